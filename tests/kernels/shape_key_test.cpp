// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE shape_key
#include "kernels/shape_key.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <vector>

using namespace mla;

namespace {

Problem base() {
  return parse_problem("batch=8 nhead=12 seq_len=68000");
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_field_that_changes_the_choice_changes_the_key) {
  const std::vector<std::function<void(Problem*)>> changes = {
      [](Problem* p) { p->batch = 9; },
      [](Problem* p) { p->nhead = 13; },
      [](Problem* p) { p->seq_len = 68001; },
      [](Problem* p) { p->q_len = 2; },
      [](Problem* p) { p->kv_dtype = KvDtype::kFp8; },
      [](Problem* p) { p->page_size = 64; },
      [](Problem* p) { p->shared_prefix = 63240; },
      [](Problem* p) { p->imbalance = 4; },
      [](Problem* p) { p->pool = PoolClass::kLarge; },
  };
  std::vector<ShapeKey> keys = {exact_key(base())};
  for (const auto& change : changes) {
    Problem p = base();
    change(&p);
    keys.push_back(exact_key(p));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    BOOST_TEST(keys[i] != kNoKey);
    for (size_t j = 0; j < i; ++j) BOOST_TEST(keys[i] != keys[j]);
  }
}

BOOST_AUTO_TEST_CASE(a_bucket_key_differs_from_every_exact_key) {
  for (int64_t seq_len = 1; seq_len < 5000; ++seq_len) {
    Problem p = base();
    p.seq_len = seq_len;
    BOOST_TEST_REQUIRE(bucket_key(p) != exact_key(p));
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_length_has_a_robust_key_and_no_other) {
  Problem p = base();
  BOOST_TEST(robust_key(p) == kNoKey);
  const ShapeKey family = family_key(p);
  p.seq_len = 0;
  BOOST_TEST(robust_key(p) != kNoKey);
  BOOST_TEST(robust_key(p) != family);
  for (const ShapeKey key : {exact_key(p), bucket_key(p), family_key(p)}) BOOST_TEST(key == kNoKey);
  Problem other = p;
  other.batch = 9;
  BOOST_TEST(robust_key(other) != robust_key(p));
}

BOOST_AUTO_TEST_CASE(the_lengths_of_buckets_cover_all_and_never_overlap) {
  int64_t next = 1;
  for (int32_t bucket = 0; bucket <= length_bucket(kMaxSeqLen); ++bucket) {
    const LengthRange range = bucket_lengths(bucket);
    if (range.first > range.last) continue;
    BOOST_TEST_REQUIRE(range.first == next, bucket);
    BOOST_TEST_REQUIRE(length_bucket(range.first) == bucket);
    BOOST_TEST_REQUIRE(length_bucket(range.last) == bucket);
    next = range.last + 1;
  }
  BOOST_TEST(next > kMaxSeqLen);
}

BOOST_AUTO_TEST_CASE(the_integer_bucket_is_the_rounded_logarithm) {
  for (int64_t seq_len = 1; seq_len <= kMaxSeqLen; seq_len += 1 + seq_len / 1000) {
    const double exact = 4 * std::log2(static_cast<double>(seq_len));
    // At a boundary the logarithm's own rounding decides; nowhere else.
    if (std::abs(exact - std::floor(exact) - 0.5) < 1e-9) continue;
    BOOST_TEST_REQUIRE(length_bucket(seq_len) == std::lround(exact), seq_len);
  }
}

BOOST_AUTO_TEST_CASE(lengths_within_a_bucket_are_within_19_percent) {
  BOOST_TEST(length_bucket(4096) == length_bucket(4000));
  BOOST_TEST(length_bucket(4096) == length_bucket(4400));
  BOOST_TEST(length_bucket(4096) != length_bucket(4900));
  BOOST_TEST(length_bucket(68000) == length_bucket(66000));
}

BOOST_AUTO_TEST_CASE(a_shape_outside_the_ranges_has_no_key) {
  for (const auto& change : std::vector<std::function<void(Problem*)>>{
           [](Problem* p) { p->batch = 0; },
           [](Problem* p) { p->batch = 65536; },
           [](Problem* p) { p->nhead = -1; },
           [](Problem* p) { p->nhead = 129; },
           [](Problem* p) { p->seq_len = 0; },
           [](Problem* p) { p->seq_len = kMaxSeqLen + 1; },
           [](Problem* p) { p->q_len = 9; },
           [](Problem* p) { p->page_size = 3; },
           [](Problem* p) { p->imbalance = 16; },
           [](Problem* p) { p->shared_prefix = -1; },
           [](Problem* p) { p->kv_dtype = static_cast<KvDtype>(7); }}) {
    Problem p = base();
    change(&p);
    BOOST_TEST(exact_key(p) == kNoKey);
    BOOST_TEST(bucket_key(p) == kNoKey);
  }
}

BOOST_AUTO_TEST_CASE(the_largest_shape_fits_its_key) {
  Problem p =
      parse_problem("batch=65535 nhead=128 seq_len=16777215 q_len=8 page_size=64 imbalance=8");
  Problem smaller = p;
  smaller.batch = 65534;
  BOOST_TEST(exact_key(p) != exact_key(smaller));
  BOOST_TEST((exact_key(p) >> 58) == 1u);
}

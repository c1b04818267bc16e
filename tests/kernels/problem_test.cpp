// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE problem
#include "kernels/problem.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "kernels/error.h"

using namespace mla;

namespace {

Problem random_problem(std::mt19937_64& random) {
  Problem p;
  p.batch = 1 + static_cast<int32_t>(random() % kMaxBatch);
  p.nhead = 1 + static_cast<int32_t>(random() % kMaxHeads);
  p.q_len = 1 + static_cast<int32_t>(random() % kMaxQLen);
  p.page_size = std::array{1, 16, 64}[random() % 3];
  p.seq_len = static_cast<int64_t>(random() % (kMaxSeqLen + 1));
  p.shared_prefix = static_cast<int64_t>(random() % static_cast<uint64_t>(p.seq_len + 1)) /
                    p.page_size * p.page_size;
  p.share_group = 1 + static_cast<int32_t>(random() % 64);
  p.imbalance = 1 << (random() % 4);
  p.kv_dtype = random() % 2 == 0 ? KvDtype::kBf16 : KvDtype::kFp8;
  p.pool = random() % 2 == 0 ? PoolClass::kSmall : PoolClass::kLarge;
  return p;
}

struct BadText {
  const char* text;
  const char* names;  // what the message has to name
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_text_of_a_plain_shape_is_short) {
  Problem p;
  p.batch = 8;
  p.seq_len = 68000;
  BOOST_TEST(to_text(p) == "batch=8 nhead=12 seq_len=68000");
}

BOOST_AUTO_TEST_CASE(the_text_names_every_field_that_is_not_the_default) {
  const std::string text =
      "batch=8 nhead=12 seq_len=68000 q_len=2 kv_dtype=fp8 page_size=16 shared_prefix=63232/4 "
      "imbalance=2 pool=large";
  BOOST_TEST(to_text(parse_problem(text)) == text);
}

BOOST_AUTO_TEST_CASE(parsing_inverts_printing) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const Problem p = random_problem(random);
    const Problem again = parse_problem(to_text(p));
    BOOST_TEST_REQUIRE((again == p), to_text(p));
    BOOST_TEST_REQUIRE(std::hash<Problem>()(again) == std::hash<Problem>()(p));
  }
}

BOOST_AUTO_TEST_CASE(fields_come_in_any_order) {
  BOOST_TEST(
      (parse_problem("seq_len=5 nhead=3 batch=2") == parse_problem("batch=2 nhead=3 seq_len=5")));
}

BOOST_AUTO_TEST_CASE(a_bad_text_is_refused_by_the_name_of_the_field) {
  const BadText cases[] = {
      {"", "batch, nhead and seq_len"},
      {"batch=1 nhead=12", "seq_len"},
      {"batch=0 nhead=12 seq_len=1", "batch: 0"},
      {"batch=-3 nhead=12 seq_len=1", "batch: -3"},
      {"batch=99999999999 nhead=12 seq_len=1", "batch"},
      {"batch=99999999999999999999999 nhead=12 seq_len=1", "batch"},
      {"batch=1 nhead=129 seq_len=1", "nhead: 129"},
      {"batch=1 nhead=12 seq_len=1x", "seq_len: '1x'"},
      {"batch=1 nhead=12 seq_len=1 batch=2", "'batch' is given twice"},
      {"batch=1 nhead=12 seq_len=1 page_size=2", "page_size: 2"},
      {"batch=1 nhead=12 seq_len=1 q_len=9", "q_len: 9"},
      {"batch=1 nhead=12 seq_len=1 kv_dtype=int4", "kv_dtype: 'int4'"},
      {"batch=1 nhead=12 seq_len=9 shared_prefix=10", "shared_prefix: 10"},
      {"batch=1 nhead=12 seq_len=99 page_size=16 shared_prefix=17", "whole pages"},
      {"batch=1 nhead=12 seq_len=9 imbalance=3", "imbalance: 3"},
      {"batch=1 nhead=12 seq_len=9 pool=huge", "pool: 'huge'"},
      {"batch=1 nhead=12 seq_len=9 colour=red", "'colour'"},
      {"batch=1 nhead=12 seq_len=9 junk", "'junk'"},
  };
  for (const BadText& bad : cases) {
    BOOST_TEST_CONTEXT(bad.text)
    BOOST_CHECK_EXCEPTION(parse_problem(bad.text), Error, [&](const Error& error) {
      BOOST_TEST_MESSAGE(error.what());
      return error.code() == ErrorCode::kUsage &&
             std::string(error.what()).find(bad.names) != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(shared_rows_are_read_once_per_group) {
  Problem p = parse_problem("batch=24 nhead=12 seq_len=68000 shared_prefix=63240/8");
  BOOST_TEST(min_kv_bytes(p) == (3.0 * 63240 + 24.0 * 4760) * 1152);
  p.shared_prefix = 0;
  BOOST_TEST(min_kv_bytes(p) == 24.0 * 68000 * 1152);
}

BOOST_AUTO_TEST_CASE(imbalance_classes_are_ratios_of_the_longest_to_the_mean) {
  BOOST_TEST(imbalance_class(100, 100) == 1);
  BOOST_TEST(imbalance_class(125, 100) == 1);
  BOOST_TEST(imbalance_class(126, 100) == 2);
  BOOST_TEST(imbalance_class(400, 100) == 4);
  BOOST_TEST(imbalance_class(401, 100) == 8);
}

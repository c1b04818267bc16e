// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE default_memo
#include "policy/default_memo.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"

using namespace mla;
using mla::policy::DefaultMemo;
using mla::policy::DefaultPolicy;

namespace {

Space space_of(const char* name) {
  DeviceInfo device;
  BOOST_REQUIRE(known_device(name, &device));
  return make_space(device);
}

// More problems than a memo has entries.
std::vector<Problem> many_problems() {
  std::vector<Problem> problems;
  for (int32_t batch = 1; batch <= 97; batch += 3) {
    for (const int64_t seq_len : {0, 1, 63, 1000, 4097, 68000, 16777215}) {
      for (const int32_t nhead : {8, 12, 64, 128}) {
        for (const KvDtype dtype : {KvDtype::kBf16, KvDtype::kFp8}) {
          Problem& problem = problems.emplace_back();
          problem.batch = batch;
          problem.seq_len = seq_len;
          problem.nhead = nhead;
          problem.q_len = 1 + batch % 2;
          problem.kv_dtype = dtype;
        }
      }
    }
  }
  return problems;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_kept_answer_is_the_policys) {
  for (const char* device : {"H200", "MI355X"}) {
    const DefaultPolicy policy(space_of(device));
    const DefaultMemo memo;
    for (int pass = 0; pass < 3; ++pass)
      for (const Problem& problem : many_problems())
        BOOST_TEST((memo.answer(policy, problem) == policy(problem)), to_text(problem));
  }
}

BOOST_AUTO_TEST_CASE(problems_of_one_key_have_one_answer) {
  const DefaultPolicy policy(space_of("H200"));
  Problem a, b;
  a.batch = b.batch = 24;
  a.seq_len = 68000;
  b.seq_len = 68001;
  BOOST_TEST(DefaultPolicy::alike(a) == DefaultPolicy::alike(b));
  BOOST_TEST((policy(a) == policy(b)));
  b.page_size = 64;
  BOOST_TEST(DefaultPolicy::alike(a) == DefaultPolicy::alike(b));
  BOOST_TEST((policy(a) == policy(b)));
  for (const auto& differ : {+[](Problem& p) { ++p.batch; },
                             +[](Problem& p) { ++p.nhead; },
                             +[](Problem& p) { ++p.q_len; },
                             +[](Problem& p) { p.kv_dtype = KvDtype::kFp8; },
                             +[](Problem& p) { p.seq_len = 0; }}) {
    Problem other = a;
    differ(other);
    BOOST_TEST(DefaultPolicy::alike(a) != DefaultPolicy::alike(other), to_text(other));
  }
}

BOOST_AUTO_TEST_CASE(threads_that_overwrite_each_other_read_right_answers) {
  const DefaultPolicy policy(space_of("H200"));
  const DefaultMemo memo;
  const std::vector<Problem> problems = many_problems();
  std::vector<KernelConfig> answers;
  for (const Problem& problem : problems) answers.push_back(policy(problem));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 4 * problems.size(); ++i) {
        const size_t at = (i * (2 * thread + 1)) % problems.size();
        if (memo.answer(policy, problems[at]) != answers[at]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
}

// SPDX-License-Identifier: MIT
// The physics prior on the device that is a formula.
#define BOOST_TEST_MODULE prior
#include "tuner/prior.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "policy/default_policy.h"
#include "tuner/analytic_source.h"

namespace mla::tuner {
namespace {

const AnalyticSource kDevice{AnalyticOptions{}};

KernelConfig with_splits(const Problem& problem, int32_t splits) {
  KernelConfig config = policy::DefaultPolicy(kDevice.space())(problem);
  config.splits = splits;
  return config;
}

std::vector<Timing> timings(const std::vector<int>& batches) {
  std::vector<Timing> result;
  for (const int batch : batches) {
    for (const int64_t rows : {4096, 16384, 65536}) {
      Problem problem;
      problem.batch = batch;
      problem.seq_len = rows;
      for (const int32_t splits : {1, 2, 4, 8, 16, 32, 64}) {
        const KernelConfig config = with_splits(problem, splits);
        result.push_back({problem, config, kDevice.true_time_us(problem, config)});
      }
    }
  }
  return result;
}

BOOST_AUTO_TEST_CASE(too_few_times_make_no_model) {
  std::vector<Timing> few = timings({8});
  few.resize(10);
  BOOST_TEST(!Prior::fit(kDevice.space(), few).has_value());
}

BOOST_AUTO_TEST_CASE(row_groups_of_another_width_have_times_of_their_own) {
  std::vector<Timing> both = timings({8});
  both.resize(12);
  for (size_t i = 0; i < 12; ++i) {
    both.push_back(both[i]);
    both.back().config.group_rows = 32;
  }
  BOOST_TEST(Prior::fit(kDevice.space(), both).has_value());
}

BOOST_AUTO_TEST_CASE(the_model_predicts_batches_that_it_was_not_fitted_to) {
  const auto prior = Prior::fit(kDevice.space(), timings({1, 4, 16, 64}));
  BOOST_REQUIRE(prior.has_value());
  for (const Timing& other : timings({2, 8, 32})) {
    const double model_us = prior->time_us(kDevice.space(), other.problem, other.config);
    BOOST_TEST(std::abs(std::log(model_us / other.time_us)) < 0.1,
               to_text(other.problem)
                   << " " << to_text(other.config) << " " << model_us << " " << other.time_us);
  }
}

BOOST_AUTO_TEST_CASE(the_best_split_count_by_the_model_is_nearly_the_best_by_the_device) {
  const auto prior = Prior::fit(kDevice.space(), timings({1, 4, 16, 64}));
  BOOST_REQUIRE(prior.has_value());
  Problem problem;
  problem.batch = 12;
  problem.seq_len = 30000;
  double best_us = INFINITY, chosen_us = 0, chosen_model_us = INFINITY;
  for (const int32_t splits : kDevice.space().range(Knob::kSplits).search) {
    const KernelConfig config = with_splits(problem, splits);
    const double time_us = kDevice.true_time_us(problem, config);
    const double model_us = prior->time_us(kDevice.space(), problem, config);
    best_us = std::min(best_us, time_us);
    if (model_us < chosen_model_us) {
      chosen_model_us = model_us;
      chosen_us = time_us;
    }
  }
  BOOST_TEST(chosen_us <= 1.1 * best_us);
}

BOOST_AUTO_TEST_CASE(a_time_far_below_the_model_is_called_impossible_and_the_true_one_is_not) {
  const auto prior = Prior::fit(kDevice.space(), timings({1, 4, 16, 64}));
  BOOST_REQUIRE(prior.has_value());
  Timing timing = timings({8}).front();
  BOOST_TEST(!prior->calls_impossible(kDevice.space(), timing));
  timing.time_us /= 10;
  BOOST_TEST(prior->calls_impossible(kDevice.space(), timing));
}

BOOST_AUTO_TEST_CASE(one_impossible_time_bends_nothing) {
  std::vector<Timing> all = timings({1, 4, 16, 64});
  all[10].time_us /= 20;
  const auto prior = Prior::fit(kDevice.space(), all);
  BOOST_REQUIRE(prior.has_value());
  BOOST_TEST(prior->calls_impossible(kDevice.space(), all[10]));
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != 10) BOOST_TEST(!prior->calls_impossible(kDevice.space(), all[i]), i);
  }
}

BOOST_AUTO_TEST_CASE(slow_knobs_do_not_bend_the_model) {
  std::vector<Timing> all = timings({1, 4, 16, 64});
  const auto alone = Prior::fit(kDevice.space(), all);
  for (size_t i = 0, count = all.size(); i < count; ++i) {
    Timing slow = all[i];
    slow.config.stage2_warps = 1;
    slow.time_us *= 3;
    all.push_back(slow);
  }
  const auto together = Prior::fit(kDevice.space(), all);
  BOOST_REQUIRE((alone && together));
  BOOST_TEST(alone->spread() == together->spread());
}

}  // namespace
}  // namespace mla::tuner

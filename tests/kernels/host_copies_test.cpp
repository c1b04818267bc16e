// SPDX-License-Identifier: MIT
// What the tests of correctness rest on: a wait or a ring that is wrong shows as NaN where copies
// are checked, and a row that is dropped or doubled moves the output.
#define BOOST_TEST_MODULE host_copies
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/bf16.h"
#include "tests/kernels/host_cases.h"

using namespace mla;
using namespace mla::test;

namespace {

bool has_nan(const Output& output) {
  for (const uint16_t value : output.out) {
    if (std::isnan(bf16_to_float(value))) return true;
  }
  return false;
}

// Relative L2 distance of one output row.
double distance(const Output& a, const Output& b, int64_t row) {
  double difference = 0, norm = 0;
  for (int64_t c = row * kValueDim; c < (row + 1) * kValueDim; ++c) {
    const double x = bf16_to_float(a.out[c]), y = bf16_to_float(b.out[c]);
    difference += (x - y) * (x - y);
    norm += x * x;
  }
  return std::sqrt(difference / norm);
}

std::vector<KernelConfig> rings() {
  std::vector<KernelConfig> configs;
  for (const int32_t stages : {2, 3, 4}) {
    for (const Wait wait : {Wait::kDrain, Wait::kPartial}) {
      KernelConfig config;
      config.splits = 2;
      config.tile_n = 16;
      config.stages = stages;
      config.wait = wait;
      configs.push_back(config);
    }
  }
  return configs;
}

}  // namespace

BOOST_AUTO_TEST_CASE(checked_copies_give_the_bits_of_prefetched_ones) {
  const auto workload = configured_problems()[2];
  for (const std::string& isa : instruction_sets()) {
    for (const KernelConfig& config : rings()) {
      const PipelineSchedule schedule = make_schedule(config);
      const DirectLaunch fast{kernels_of(isa), host::CopyMode::kPrefetch};
      const DirectLaunch checked{kernels_of(isa), host::CopyMode::kChecked};
      BOOST_TEST((fast(workload->params(), config, schedule) ==
                  checked(workload->params(), config, schedule)),
                 isa << " " << to_text(config));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_retires_one_copy_too_few_reads_nan) {
  const auto workload = configured_problems()[0];
  for (const std::string& isa : instruction_sets()) {
    const DirectLaunch checked{kernels_of(isa), host::CopyMode::kChecked};
    for (const KernelConfig& config : rings()) {
      PipelineSchedule schedule = make_schedule(config);
      BOOST_TEST(!has_nan(checked(workload->params(), config, schedule)));
      schedule.unretired = 1;
      BOOST_TEST(has_nan(checked(workload->params(), config, schedule)),
                 isa << " " << to_text(config));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_refilled_before_its_block_is_computed_reads_nan) {
  const auto workload = configured_problems()[0];
  for (const std::string& isa : instruction_sets()) {
    const DirectLaunch checked{kernels_of(isa), host::CopyMode::kChecked};
    for (const KernelConfig& config : rings()) {
      PipelineSchedule schedule = make_schedule(config);
      schedule.ahead = config.stages;
      BOOST_TEST(has_nan(checked(workload->params(), config, schedule)),
                 isa << " " << to_text(config));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_dropped_or_doubled_spike_row_moves_its_output_by_ten_percent) {
  const auto workload = make_workload({}, {200});
  const KernelConfig config;
  const DirectLaunch launch{host::highway_kernels()};
  const PipelineSchedule schedule = make_schedule(config);
  const Output expected = launch(workload->params(), config, schedule);
  BOOST_REQUIRE(!workload->spikes().empty());
  for (const Workload::SpikeRow& spike : workload->spikes()) {
    const std::vector<int32_t>& indices = workload->kv_indices();
    std::vector<int32_t> dropped(indices.begin(), indices.begin() + 200);
    std::vector<int32_t> doubled = dropped;
    dropped.erase(dropped.begin() + spike.n);
    doubled.insert(doubled.begin() + spike.n, indices[spike.n]);
    for (const std::vector<int32_t>& mutated : {dropped, doubled}) {
      const std::vector<int32_t> indptr = {0, static_cast<int32_t>(mutated.size())};
      DecodeParams params = workload->params();
      params.kv_indices = mutated.data();
      params.kv_indptr = indptr.data();
      const Output moved = launch(params, config, schedule);
      BOOST_TEST(distance(expected, moved, spike.head) > 0.1,
                 "row " << spike.n << ", " << mutated.size() << " rows");
    }
  }
}

// SPDX-License-Identifier: MIT
// The loop budget: from counts to shares and verdicts, what `space --budget` says, and the guesses
// that a search begins with.
#define BOOST_TEST_MODULE tools_loop_budget
#include "tools/loop_budget.h"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"
#include "tests/tools/program.h"
#include "tools/target.h"

using namespace mla;
using namespace mla::tools;

namespace {

// Eight bytes a cycle, so that 16 rows of 1,152 bytes take 2,304 cycles.
const CardRates kCard = {"a card", 2.0, 16.0};

LoopCounts counts_of(Wait wait) {
  LoopCounts counts = {};
  counts.arch = "gfx942";
  counts.kernel = {16, 3, wait, false, true};
  counts.cycles = {230.4, 460.8, 115.2, 57.6, 28.8};
  counts.address_cycles = 100;
  counts.issue_cycles = 1000;
  return counts;
}

Space described(const std::string& name) {
  return space_of("amdgcn:" + name);
}

KernelConfig config_of(const Space& space, const Problem& problem, int32_t splits, Wait wait) {
  KernelConfig config = policy::DefaultPolicy(space)(problem);
  config.splits = splits;
  config.wait = wait;
  return config;
}

bool counted() {
  return !loop_counts().empty();
}

}  // namespace

// Four waves, one a SIMD: MFMA, VALU and SALU count once, what serves all four SIMDs four times.
BOOST_AUTO_TEST_CASE(shares_are_of_the_time_in_which_a_cu_gets_a_block) {
  const LoopBudget budget = loop_budget(kCard, counts_of(Wait::kPartial));
  BOOST_CHECK_CLOSE(budget.memory_cycles, 2304, 1e-9);
  BOOST_CHECK_CLOSE(budget.cycles.mfma / budget.memory_cycles, 0.10, 1e-9);
  BOOST_CHECK_CLOSE(budget.cycles.valu / budget.memory_cycles, 0.20, 1e-9);
  BOOST_CHECK_CLOSE(budget.cycles.salu / budget.memory_cycles, 0.05, 1e-9);
  BOOST_CHECK_CLOSE(budget.cycles.lds / budget.memory_cycles, 0.10, 1e-9);
  BOOST_CHECK_CLOSE(budget.cycles.vmem / budget.memory_cycles, 0.05, 1e-9);
  BOOST_CHECK_CLOSE(budget.busiest_share, 0.20, 1e-9);
  BOOST_CHECK_CLOSE(budget.address_share, 0.10, 1e-9);
}

// Little's law: 36,864 bytes at 16 bytes a nanosecond.
BOOST_AUTO_TEST_CASE(a_partial_wait_keeps_all_stages_but_one_in_flight_and_a_drain_none) {
  const LoopBudget partial = loop_budget(kCard, counts_of(Wait::kPartial));
  BOOST_CHECK_EQUAL(partial.in_flight_bytes, 2 * 16 * 1152);
  BOOST_CHECK_CLOSE(partial.covered_ns, 2304, 1e-9);
  BOOST_CHECK(partial.misses.empty());
  const LoopBudget drain = loop_budget(kCard, counts_of(Wait::kDrain));
  BOOST_CHECK_EQUAL(drain.in_flight_bytes, 0);
  BOOST_CHECK(drain.misses == std::vector<std::string>{"in_flight"});
}

BOOST_AUTO_TEST_CASE(each_limit_is_missed_by_name) {
  LoopCounts counts = counts_of(Wait::kPartial);
  counts.cycles.lds = 0.61 * 2304 / 4;
  counts.address_cycles = 151;
  BOOST_CHECK(
      (loop_budget(kCard, counts).misses == std::vector<std::string>{"pipes", "addresses"}));
  counts.arch = "gfx950";  // wants 64 KiB
  BOOST_CHECK((loop_budget(kCard, counts).misses ==
               std::vector<std::string>{"pipes", "in_flight", "addresses"}));
}

BOOST_AUTO_TEST_CASE(a_partition_has_the_share_of_the_memory_of_the_whole_part) {
  DeviceInfo info;
  info.name = "AMD Instinct MI325X";
  info.arch = "gfx942";
  info.compute_units = 38;
  BOOST_CHECK_CLOSE(card_rates(info)->memory_gb_s, 6000.0 / 304, 1e-9);
  info.name = "a name that says nothing";
  BOOST_CHECK_CLOSE(card_rates(info)->memory_gb_s, 5300.0 / 304, 1e-9);
  info.arch = "sm_90";
  BOOST_CHECK(!card_rates(info));
}

BOOST_AUTO_TEST_CASE(a_described_device_has_the_space_of_its_part) {
  BOOST_CHECK_EQUAL(device_key(described("gfx950").device()), "gfx950/256cu/8xcd");
  BOOST_CHECK_EQUAL(described("gfx942").device().name, "MI300X");
  BOOST_CHECK_EQUAL(described("MI325X").device().name, "MI325X");
  for (const char* name : {"", "H200", "gfx90a", "MI"}) {
    BOOST_CHECK_EXCEPTION(described(name), Error, [](const Error& error) {
      return error.code() == ErrorCode::kUsage;
    });
  }
}

BOOST_AUTO_TEST_CASE(a_described_device_cannot_be_tuned) {
  const testing::ProgramResult result =
      testing::run({"run", "--device", "amdgcn:gfx950", "--db", "/nonexistent/tuning.db"});
  BOOST_CHECK_EQUAL(result.status, 2);
  BOOST_CHECK_NE(result.err.find("'amdgcn:gfx950' is not a device"), std::string::npos);
}

// Every kernel that the space offers has been counted, none has a pipe above its limit, and a build
// without the tools says what it lacks.
BOOST_AUTO_TEST_CASE(the_budget_has_a_row_for_every_kernel_of_the_space) {
  const testing::ProgramResult result =
      testing::run({"space", "--device", "amdgcn:gfx950", "--budget", "--json"});
  if (!counted()) {
    BOOST_CHECK_EQUAL(result.status, 2);
    BOOST_CHECK_NE(result.err.find("-DMLA_AMDGCN=on"), std::string::npos);
    return;
  }
  BOOST_REQUIRE_EQUAL(result.status, 0);
  const auto json = nlohmann::json::parse(result.out);
  BOOST_CHECK_EQUAL(json["budget"].size(), 14U);
  for (const auto& row : json["budget"]) {
    for (const char* pipe : {"mfma", "valu", "salu", "lds", "vmem"}) {
      BOOST_CHECK_GT(row[pipe]["share"].get<double>(), 0);
      BOOST_CHECK_LE(row[pipe]["share"].get<double>(), kMaxPipeShare);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_space_without_the_option_has_no_budget) {
  const testing::ProgramResult result =
      testing::run({"space", "--device", "amdgcn:gfx950", "--json"});
  BOOST_REQUIRE_EQUAL(result.status, 0);
  BOOST_CHECK(!nlohmann::json::parse(result.out).contains("budget"));
}

BOOST_AUTO_TEST_CASE(a_device_without_known_rates_has_no_budget) {
  const testing::ProgramResult result = testing::run({"space", "--device", "cpu", "--budget"});
  BOOST_CHECK_EQUAL(result.status, 2);
  BOOST_CHECK_NE(result.err.find("amdgcn:gfx950"), std::string::npos);
}

BOOST_AUTO_TEST_CASE(guesses_prefer_copies_in_flight_and_all_compute_units) {
  if (!counted()) return;
  const Space space = described("gfx950");
  const Problem problem = parse_problem("batch=8 nhead=12 seq_len=68000");
  const auto guess_us = [&](int32_t splits, Wait wait) {
    return estimated_time_us(space, problem, config_of(space, problem, splits, wait)).value();
  };
  BOOST_CHECK_LT(guess_us(32, Wait::kPartial), guess_us(32, Wait::kDrain));
  BOOST_CHECK_LT(guess_us(32, Wait::kPartial), guess_us(4, Wait::kPartial));
  BOOST_CHECK_LT(guess_us(32, Wait::kPartial), guess_us(33, Wait::kPartial));
  // 626,688,000 bytes at 8 TB/s are what no configuration can beat.
  BOOST_CHECK_GT(guess_us(32, Wait::kPartial), 78.3);
}

BOOST_AUTO_TEST_CASE(a_kernel_that_does_not_exist_has_no_guess) {
  const Space space = described("gfx942");
  const Problem problem = parse_problem("batch=8 nhead=12 seq_len=68000");
  KernelConfig config = config_of(space, problem, 8, Wait::kPartial);
  config.tile_n = 48;
  BOOST_CHECK(!estimated_time_us(space, problem, config));
}

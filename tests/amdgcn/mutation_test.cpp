// SPDX-License-Identifier: MIT
// Builds of the program's own stage 1 with one thing removed: the executed tests must notice each.
// Memory that completes late shows missing waits, memory that completes early what is overwritten
// too soon.
#define BOOST_TEST_MODULE amdgcn_mutation
#include <boost/test/unit_test.hpp>

#include "tests/amdgcn/emulated_decode.h"

using namespace mla;
using namespace mla::test;
using amdgcn::Completion;
using amdgcn::kModes;
using amdgcn::kTargets;

namespace {

// The shape that the mutants are built in: the deepest ring with a partial wait.
KernelConfig mutated_shape(const std::string& arch) {
  const char* shape =
      arch == "gfx942" ? "tile_n=16 stages=3 wait=partial" : "tile_n=32 stages=4 wait=partial";
  return parse_config(shape, make_space(device_of(arch)).neutral());
}

// Several turns of page numbers, an end within a block.
std::shared_ptr<const Workload> long_walk() {
  Problem problem;
  problem.nhead = 12;
  return make_workload(problem, {715});
}

// Empty where the output is right: a fault, or what is wrong with the output.
std::string complaint(EmulatedGpu& gpu, const Workload& workload, amdgcn::Mode mode) {
  try {
    const Output output = gpu.decode(workload, mutated_shape(gpu.arch()), mode);
    return check(reference_sample(workload.params(), 12, 1), workload, output).text;
  } catch (const amdgcn::Fault& fault) {
    return fault.what();
  }
}

// Requires that the mutant is noticed with this completion, on both targets, in either order of the
// waves.
void require_caught(const std::string& mutation, Completion completion) {
  const auto workload = long_walk();
  for (const char* arch : kTargets) {
    EmulatedGpu gpu(arch, MLA_AMD_MUTANTS "/" + mutation);
    bool caught = false;
    for (const amdgcn::Mode mode : kModes) {
      if (mode.completion != completion) continue;
      caught = caught || !complaint(gpu, *workload, mode).empty();
    }
    BOOST_TEST(caught, arch << ": " << mutation << " was not noticed");
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_original_is_right_in_every_mode) {
  const auto workload = long_walk();
  for (const char* arch : kTargets) {
    for (const amdgcn::Mode mode : kModes) {
      BOOST_TEST(complaint(emulated_gpu(arch), *workload, mode) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_missing_wait_for_the_copies_is_noticed) {
  require_caught("no_wait", Completion::kLate);
}

BOOST_AUTO_TEST_CASE(a_wait_that_retires_one_copy_too_few_is_noticed) {
  require_caught("one_copy_too_few_retired", Completion::kLate);
}

BOOST_AUTO_TEST_CASE(a_missing_barrier_behind_the_wait_is_noticed) {
  require_caught("no_barrier_behind_the_wait", Completion::kLate);
}

BOOST_AUTO_TEST_CASE(a_missing_barrier_at_the_end_of_the_loop_is_noticed) {
  require_caught("no_loop_end_barrier", Completion::kEarly);
}

BOOST_AUTO_TEST_CASE(a_barrier_that_does_not_wait_for_local_memory_is_noticed) {
  require_caught("barrier_without_lgkmcnt", Completion::kLate);
}

BOOST_AUTO_TEST_CASE(a_copy_that_is_not_swizzled_is_noticed) {
  require_caught("wrong_swizzle", Completion::kEarly);
}

BOOST_AUTO_TEST_CASE(page_numbers_that_come_a_turn_late_are_noticed) {
  require_caught("page_prefetch_one_turn_late", Completion::kEarly);
}

BOOST_AUTO_TEST_CASE(page_numbers_of_the_next_row_are_noticed) {
  require_caught("page_prefetch_one_row_off", Completion::kEarly);
}

BOOST_AUTO_TEST_CASE(reading_behind_the_end_of_a_request_is_noticed) {
  require_caught("rows_behind_the_end", Completion::kEarly);
}

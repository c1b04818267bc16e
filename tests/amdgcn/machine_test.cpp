// SPDX-License-Identifier: MIT
// Whole kernels compiled by clang, and mutants of them that the machine must catch.
#define BOOST_TEST_MODULE amdgcn_machine
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "kernels/bf16.h"
#include "tests/amdgcn/code_objects.h"

namespace {

using namespace mla::amdgcn;

// Runs body for both targets in all modes.
template <class F>
void everywhere(const std::string& code_object, F&& body) {
  for (const char* target : kTargets) {
    const CodeObject built = built_code_object(code_object, target);
    for (const Mode mode : kModes) {
      BOOST_TEST_CONTEXT(target << (mode.completion == Completion::kLate ? ", late" : ", early")
                                << (mode.order == WaveOrder::kFirstAhead ? ", first" : ", last")
                                << " wave ahead") {
        body(built, mode);
      }
    }
  }
}

std::string fault_of(Machine* machine, const Launch& launch, Mode mode) {
  try {
    machine->run(launch, mode);
  } catch (const Fault& fault) {
    return fault.what();
  }
  return {};
}

BOOST_AUTO_TEST_CASE(a_grid_with_a_ragged_end_adds_vectors) {
  everywhere("smoke", [](const CodeObject& code_object, Mode mode) {
    std::vector<float> a(1000);
    std::vector<float> b(1000);
    std::iota(a.begin(), a.end(), 1.0f);
    std::iota(b.begin(), b.end(), 5000.0f);
    std::vector<float> sum(1000, -1.0f);
    MemoryMap memory;
    add(&memory, a, "a", Permission::kReadOnly);
    add(&memory, b, "b", Permission::kReadOnly);
    add(&memory, sum, "sum");
    Machine machine(code_object, memory);
    const Arguments arguments(a.data(), b.data(), sum.data(), 999);
    machine.run({"add_vectors", {8}, {128}, 0, arguments.data(), arguments.size()}, mode);
    for (size_t i = 0; i < 999; ++i) BOOST_REQUIRE_EQUAL(sum[i], a[i] + b[i]);
    BOOST_TEST(sum[999] == -1.0f);
  });
}

BOOST_AUTO_TEST_CASE(waves_of_a_workgroup_meet_at_barriers) {
  everywhere("smoke", [](const CodeObject& code_object, Mode mode) {
    constexpr int kRows = 3;
    constexpr int kLength = 700;
    std::vector<float> rows(kRows * kLength);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 37);
    std::vector<float> sums(kRows);
    MemoryMap memory;
    add(&memory, rows, "rows", Permission::kReadOnly);
    add(&memory, sums, "sums");
    Machine machine(code_object, memory);
    const Arguments arguments(rows.data(), sums.data(), kLength);
    machine.run({"sum_rows", {kRows}, {256}, 0, arguments.data(), arguments.size()}, mode);
    for (int row = 0; row < kRows; ++row) {
      const auto begin = rows.begin() + row * kLength;
      BOOST_TEST(sums[static_cast<size_t>(row)] == std::accumulate(begin, begin + kLength, 0.0f));
    }
  });
}

// Sums of column t over the blocks, as sum_neighbour defines them.
struct Neighbours {
  static constexpr int kBlocks = 6;
  std::vector<uint32_t> values = std::vector<uint32_t>(128 * (kBlocks + 1));
  std::vector<uint32_t> sums = std::vector<uint32_t>(128);
  MemoryMap memory;
  Arguments arguments{values.data(), sums.data(), kBlocks};
  Launch launch{"sum_neighbour", {1}, {128}, 0, arguments.data(), arguments.size()};

  Neighbours() {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i * i + 1);
    add(&memory, values, "values", Permission::kReadOnly);
    add(&memory, sums, "sums");
  }
  bool correct() const {
    for (size_t t = 0; t < 128; ++t) {
      uint32_t expected = 0;
      for (size_t block = 0; block < kBlocks; ++block)
        expected += values[block * 128 + (t + 64) % 128];
      if (sums[t] != expected) return false;
    }
    return true;
  }
};

// In how many modes a build of sum_neighbour goes wrong.
int failures(const std::string& build, Completion completion) {
  int wrong = 0;
  everywhere(build, [&](const CodeObject& code_object, Mode mode) {
    if (mode.completion != completion) return;
    Neighbours neighbours;
    Machine machine(code_object, neighbours.memory);
    machine.run(neighbours.launch, mode);
    wrong += neighbours.correct() ? 0 : 1;
  });
  return wrong;
}

BOOST_AUTO_TEST_CASE(a_ring_of_copies_into_lds_is_right_in_every_mode) {
  BOOST_TEST(failures("smoke", Completion::kLate) == 0);
  BOOST_TEST(failures("smoke", Completion::kEarly) == 0);
}

BOOST_AUTO_TEST_CASE(a_missing_wait_is_seen_when_copies_complete_late) {
  BOOST_TEST(failures("no_wait", Completion::kLate) == 4);
  BOOST_TEST(failures("no_wait", Completion::kEarly) == 0);
}

BOOST_AUTO_TEST_CASE(a_missing_barrier_is_seen_because_waves_run_ahead) {
  BOOST_TEST(failures("no_first_barrier", Completion::kLate) == 4);
  BOOST_TEST(failures("no_first_barrier", Completion::kEarly) == 4);
}

BOOST_AUTO_TEST_CASE(a_slot_overwritten_while_it_is_read_is_seen_when_copies_complete_early) {
  BOOST_TEST(failures("no_last_barrier", Completion::kEarly) == 4);
}

BOOST_AUTO_TEST_CASE(a_matrix_product_comes_out) {
  everywhere("smoke", [](const CodeObject& code_object, Mode mode) {
    std::vector<uint16_t> a(256);
    std::vector<uint16_t> b(256);
    for (int i = 0; i < 256; ++i) {
      a[static_cast<size_t>(i)] = mla::float_to_bf16(static_cast<float>(i % 19 - 9));
      b[static_cast<size_t>(i)] = mla::float_to_bf16(static_cast<float>(i % 23 - 11));
    }
    std::vector<float> d(256);
    MemoryMap memory;
    add(&memory, a, "a", Permission::kReadOnly);
    add(&memory, b, "b", Permission::kReadOnly);
    add(&memory, d, "d");
    Machine machine(code_object, memory);
    const Arguments arguments(a.data(), b.data(), d.data());
    machine.run({"multiply_matrices", {1}, {64}, 0, arguments.data(), arguments.size()}, mode);
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 16; ++column) {
        float expected = 0;
        for (int k = 0; k < 16; ++k) {
          expected += mla::bf16_to_float(a[static_cast<size_t>(row * 16 + k)]) *
                      mla::bf16_to_float(b[static_cast<size_t>(column * 16 + k)]);
        }
        BOOST_REQUIRE_EQUAL(d[static_cast<size_t>(row * 16 + column)], expected);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(an_access_out_of_range_names_kernel_instruction_and_memory) {
  everywhere("smoke", [](const CodeObject& code_object, Mode mode) {
    std::vector<float> a(128);
    std::vector<float> sum(64);
    MemoryMap memory;
    add(&memory, a, "a", Permission::kReadOnly);
    add(&memory, sum, "sum");
    Machine machine(code_object, memory);
    const Arguments arguments(a.data(), a.data(), sum.data(), 128);
    const std::string fault = fault_of(
        &machine, {"add_vectors", {1}, {128}, 0, arguments.data(), arguments.size()}, mode);
    BOOST_TEST(fault.find("add_vectors: workgroup 0,0,0 wave 1: 0x") == 0u);
    BOOST_TEST(fault.find("global_store_dword") != std::string::npos);
    BOOST_TEST(fault.find("sum of 256 bytes, offset 256") != std::string::npos);
  });
}

BOOST_AUTO_TEST_CASE(memory_that_is_registered_for_reading_is_not_written) {
  std::vector<float> a(64);
  MemoryMap memory;
  add(&memory, a, "a", Permission::kReadOnly);
  const CodeObject code_object = built_code_object("smoke", "gfx950");
  Machine machine(code_object, memory);
  const Arguments arguments(a.data(), a.data(), a.data(), 64);
  const std::string fault = fault_of(
      &machine, {"add_vectors", {1}, {64}, 0, arguments.data(), arguments.size()}, kModes[0]);
  BOOST_TEST(fault.find("outside of what may be written") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_launch_that_does_not_fit_the_kernel_is_refused) {
  const CodeObject code_object = built_code_object("smoke", "gfx942");
  const MemoryMap memory;
  Machine machine(code_object, memory);
  const Arguments none;
  BOOST_CHECK_THROW(machine.run({"sum_rows", {1}, {256}, 0, none.data(), none.size()}, kModes[0]),
                    mla::Error);
  const Arguments arguments(uint64_t{0}, uint64_t{0}, 0);
  BOOST_CHECK_THROW(
      machine.run({"sum_rows", {1}, {512}, 0, arguments.data(), arguments.size()}, kModes[0]),
      mla::Error);
  BOOST_CHECK_THROW(
      machine.run({"sum_rows", {1}, {256}, 65536, arguments.data(), arguments.size()}, kModes[0]),
      mla::Error);
  BOOST_CHECK_THROW(
      machine.run({"no_such_kernel", {1}, {64}, 0, none.data(), none.size()}, kModes[0]),
      mla::Error);
}

}  // namespace

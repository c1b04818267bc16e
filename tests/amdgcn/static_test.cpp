// SPDX-License-Identifier: MIT
// What the machine code of every compiled shape must look like: its registers and LDS, and in the
// loop its products, copies and waits.
#define BOOST_TEST_MODULE amdgcn_static
#include <boost/test/unit_test.hpp>

#include "kernels/amdgcn/loops.h"
#include "tests/amdgcn/emulated_decode.h"

using namespace mla;
using namespace mla::test;
using amdgcn::Instruction;
using amdgcn::kTargets;
using amdgcn::Loop;

namespace {

constexpr int kVgprsOfAWave = 512;

template <class Check>
void for_each_kernel(const Check& check) {
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      for (const bool wide : {false, true}) {
        const AmdStage1 key = {shape.tile_n, shape.stages, shape.wait, wide, true};
        BOOST_TEST_CONTEXT(arch << " " << symbol_name(key)) {
          check(gpu, key);
        }
      }
    }
  }
}

int copy_bytes(const EmulatedGpu& gpu) {
  return gpu.arch() == "gfx950" ? 16 : 4;  // a lane's, by one instruction
}

// Copies of KV rows by one wave for one block. An instruction takes 128 bytes of each of up to as
// many rows as it has room for; those of more rows repeat that.
int copies_of_a_block(const EmulatedGpu& gpu, const AmdStage1& key) {
  const int instruction_bytes = kWaveLanes * copy_bytes(gpu);
  const int wave_rows = key.tile_n / kStage1Waves;
  const int rows = std::min(wave_rows, instruction_bytes / 128);
  return wave_rows / rows * ((rows * kLdsRowBytes + instruction_bytes - 1) / instruction_bytes);
}

// Products of 16 x 16 by one wave for one block.
int products_of_a_block(const EmulatedGpu& gpu, const AmdStage1& key) {
  const int token_tiles = key.tile_n / 16;
  const int parts = kStage1Waves / token_tiles;
  const int steps = (kHeadDim / 32 + parts - 1) / parts;  // of 32 columns
  const int output_tiles = kValueDim / kStage1Waves / 16;
  if (gpu.arch() == "gfx942") return 2 * steps + token_tiles * output_tiles;
  return steps + (token_tiles + 1) / 2 * output_tiles;
}

// The steady loop: it multiplies and copies. The other one works off the ring.
Loop main_loop(const amdgcn::Kernel& kernel) {
  std::vector<Loop> found;
  for (const Loop& loop : amdgcn::innermost_loops_with(kernel.instructions, "v_mfma_")) {
    for (size_t i = loop.begin; i < loop.end; ++i) {
      if (!amdgcn::is_load_to_lds(kernel.instructions[i])) continue;
      found.push_back(loop);
      break;
    }
  }
  BOOST_TEST_REQUIRE(found.size() == 1u);
  return found.front();
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_kernel_spills_and_all_fit_the_registers_of_a_wave) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    const amdgcn::KernelMetadata& metadata = gpu.kernel(key).metadata;
    BOOST_TEST(metadata.vgpr_spills == 0);
    BOOST_TEST(metadata.sgpr_spills == 0);
    BOOST_TEST(metadata.private_segment_bytes == 0);
    BOOST_TEST(metadata.vgprs <= kVgprsOfAWave);
    BOOST_TEST(metadata.max_workgroup_size == kStage1Waves * kWaveLanes);
  });
}

BOOST_AUTO_TEST_CASE(local_memory_is_all_dynamic_and_within_that_of_the_target) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    BOOST_TEST(gpu.kernel(key).metadata.static_lds_bytes == 0);
    const AmdLayout layout = {key.tile_n, key.stages};
    BOOST_TEST(layout.bytes() <= device_of(gpu.arch()).local_memory_bytes);
  });
}

BOOST_AUTO_TEST_CASE(two_workgroups_share_a_cu_of_gfx950_where_their_rings_leave_room) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    const int64_t lds_bytes = device_of(gpu.arch()).local_memory_bytes;
    if (2 * AmdLayout{key.tile_n, key.stages}.bytes() > lds_bytes) return;
    BOOST_TEST(gpu.kernel(key).metadata.vgprs <= kVgprsOfAWave / 2);
  });
}

BOOST_AUTO_TEST_CASE(the_loop_has_the_products_and_copies_of_one_block) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    const amdgcn::Kernel& kernel = gpu.kernel(key);
    const Loop loop = main_loop(kernel);
    BOOST_TEST(amdgcn::count(kernel.instructions, loop, "v_mfma_") ==
               static_cast<size_t>(products_of_a_block(gpu, key)));
    int copies = 0;
    for (size_t i = loop.begin; i < loop.end; ++i) {
      copies += amdgcn::is_load_to_lds(kernel.instructions[i]) ? 1 : 0;
    }
    BOOST_TEST(copies == copies_of_a_block(gpu, key) + 1);  // one of page numbers
  });
}

BOOST_AUTO_TEST_CASE(the_loop_waits_for_copies_once_and_leaves_in_flight_what_its_name_says) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    const amdgcn::Kernel& kernel = gpu.kernel(key);
    const Loop loop = main_loop(kernel);
    std::vector<int> waits;
    for (size_t i = loop.begin; i < loop.end; ++i) {
      const auto counts = amdgcn::wait_counts(kernel.instructions[i]);
      if (counts && counts->vm < amdgcn::WaitCounts::kVmMax) waits.push_back(counts->vm);
    }
    const int younger =
        key.wait == Wait::kDrain ? 0 : (key.stages - 1) * copies_of_a_block(gpu, key);
    BOOST_TEST(waits == std::vector<int>{younger}, boost::test_tools::per_element());
  });
}

// The immediate moves the LDS address as well, while clang may fold part of the global one into it.
BOOST_AUTO_TEST_CASE(no_copy_into_local_memory_has_an_immediate_offset) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    for (const Instruction& instruction : gpu.kernel(key).instructions) {
      if (!amdgcn::is_load_to_lds(instruction)) continue;
      BOOST_TEST(!instruction.has("offset"), instruction.text);
    }
  });
}

BOOST_AUTO_TEST_CASE(narrow_pools_are_read_through_a_buffer_and_wide_ones_by_address) {
  for_each_kernel([](EmulatedGpu& gpu, const AmdStage1& key) {
    const amdgcn::Kernel& kernel = gpu.kernel(key);
    const Loop loop = main_loop(kernel);
    int buffer = 0;
    for (size_t i = loop.begin; i < loop.end; ++i) {
      buffer += amdgcn::starts_with(kernel.instructions[i].mnemonic, "buffer_load_") ? 1 : 0;
    }
    BOOST_TEST(buffer == (key.wide ? 0 : copies_of_a_block(gpu, key)));
  });
}

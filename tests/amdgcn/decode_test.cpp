// SPDX-License-Identifier: MIT
// The kernels for gfx942 and gfx950, executed without a GPU: every compiled shape in every order of
// completion against the float64 reference, and the knobs that may not change a bit.
#define BOOST_TEST_MODULE amdgcn_decode
#include <boost/test/unit_test.hpp>

#include "tests/amdgcn/emulated_decode.h"

using namespace mla;
using namespace mla::test;
using amdgcn::kModes;
using amdgcn::kTargets;

namespace {

constexpr amdgcn::Mode kLate = kModes[0];

std::string describe(const EmulatedGpu& gpu, const Workload& workload, const KernelConfig& config) {
  return gpu.arch() + " " + to_text(workload.problem()) + " " + to_text(config);
}

void require_right(EmulatedGpu& gpu,
                   const Workload& workload,
                   const KernelConfig& config,
                   amdgcn::Mode mode) {
  const Output output = gpu.decode(workload, config, mode);
  const Outcome outcome = check(reference_sample(workload.params(), 48, 7), workload, output);
  BOOST_TEST_REQUIRE(outcome.ok(), describe(gpu, workload, config) << ": " << outcome.text);
}

KernelConfig with(KernelConfig config, const std::string& knobs) {
  return parse_config(knobs, config);
}

std::shared_ptr<const Workload> problem_of(const std::string& text,
                                           const std::vector<int64_t>& lengths,
                                           const WorkloadOptions& options = {}) {
  return make_workload(parse_problem("batch=1 seq_len=1 " + text), lengths, options);
}

// Lengths at the edges of tiles and of the copy ring, one too short for its splits, empty ones.
const std::vector<int64_t> kRagged = {0, 1, 15, 64, 65, 0, 330};

}  // namespace

BOOST_AUTO_TEST_CASE(every_shape_agrees_with_the_reference_in_every_mode) {
  const auto tokens = problem_of("nhead=12", kRagged);
  const auto pages = problem_of("nhead=17 q_len=2 page_size=16", {0, 3, 200});
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      for (const amdgcn::Mode mode : kModes) {
        require_right(gpu, *tokens, with(shape, "splits=1"), mode);
        require_right(gpu, *tokens, with(shape, "splits=3"), mode);
        require_right(gpu, *pages, with(shape, "splits=2 stage2_tiles=4 stage2_warps=2"), mode);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(
    every_two_of_page_size_heads_query_length_and_lengths_agree_with_the_reference) {
  const std::vector<int32_t> heads = {1, 3, 5, 12, 16, 17, 33, 128};
  const std::vector<int32_t> q_lens = {1, 2, 3, 4, 8};
  const std::vector<std::vector<int64_t>> lengths = {{1}, {16, 15}, {0, 129}, {300}, {5, 0, 70}};
  size_t turn = 0;
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    const std::vector<KernelConfig> shapes = stage1_shapes(arch);
    for (const Choice& choice :
         pairwise_choices({kPageSizes.size(), heads.size(), q_lens.size(), lengths.size()}, 5)) {
      Problem problem;
      problem.page_size = kPageSizes[choice[0]];
      problem.nhead = heads[choice[1]];
      problem.q_len = q_lens[choice[2]];
      const auto workload = make_workload(problem, lengths[choice[3]]);
      KernelConfig config = shapes[turn % shapes.size()];
      config.splits = static_cast<int32_t>(1 + turn % 4);
      require_right(gpu, *workload, config, kModes[turn % std::size(kModes)]);
      ++turn;
    }
  }
}

// Last blocks of fewer rows than query positions lack: then the block before is masked as well.
BOOST_AUTO_TEST_CASE(query_positions_that_share_a_row_group_each_end_where_they_see_no_further) {
  for (const char* shape : {"nhead=5 q_len=8", "nhead=12 q_len=4"}) {
    const auto workload = problem_of(shape, {3, 17, 33, 65, 68, 196});
    for (const char* arch : kTargets) {
      EmulatedGpu& gpu = emulated_gpu(arch);
      for (const KernelConfig& config : stage1_shapes(arch)) {
        const Output output = gpu.decode(*workload, with(config, "splits=2"), kLate);
        const Outcome outcome =
            check(reference_sample(workload->params(), 1000, 7), *workload, output);
        BOOST_TEST_REQUIRE(outcome.ok(), describe(gpu, *workload, config) << ": " << outcome.text);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_walk_longer_than_the_ring_of_page_numbers_agrees_with_the_reference) {
  const auto workload = problem_of("nhead=16", {1500});
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      require_right(gpu, *workload, with(shape, "splits=1"), kLate);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pool_past_4_gib_is_addressed_with_64_bits) {
  WorkloadOptions options;
  options.pool_pages = (int64_t{1} << 32) / row_bytes(KvDtype::kBf16) + 1000;
  const auto workload = problem_of("nhead=12", {100, 333}, options);
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      const KernelConfig config = with(shape, "splits=2");
      BOOST_TEST_REQUIRE(amd_stage1(workload->params(), config, true).wide);
      for (const amdgcn::Mode mode : kModes) require_right(gpu, *workload, config, mode);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pool_of_unknown_size_is_addressed_with_64_bits_and_gives_the_same_bits) {
  const auto workload = problem_of("nhead=12", kRagged);
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      const KernelConfig config = with(shape, "splits=3");
      DecodeParams unknown = workload->params();
      unknown.kv_rows = 0;
      BOOST_TEST_REQUIRE(!amd_stage1(workload->params(), config, true).wide);
      BOOST_TEST_REQUIRE(amd_stage1(unknown, config, true).wide);
      const Output expected = gpu.decode(*workload, config, kLate);
      for (const amdgcn::Mode mode : kModes) {
        BOOST_TEST_REQUIRE((gpu.decode(*workload, unknown, config, mode) == expected),
                           describe(gpu, *workload, config));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(wait_depth_order_and_the_cut_of_stage_2_change_no_bit) {
  const auto workload = problem_of("nhead=12 q_len=2", {0, 400, 75, 9});
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    const Space space = make_space(device_of(arch));
    for (const int32_t tile_n : space.range(Knob::kTileN).legal) {
      std::optional<Output> expected;
      for (const KernelConfig& shape : stage1_shapes(arch)) {
        if (shape.tile_n != tile_n) continue;
        for (const char* knobs : {"splits=8 stage2_tiles=1 stage2_warps=8",
                                  "splits=8 stage2_tiles=1 stage2_warps=1 order=split_major",
                                  "splits=8 stage2_tiles=2 stage2_warps=2",
                                  "splits=8 stage2_tiles=4 stage2_warps=8 order=split_major",
                                  "splits=8 stage2_tiles=8 stage2_warps=1"}) {
          const KernelConfig config = with(shape, knobs);
          BOOST_TEST_REQUIRE(!space.violation(workload->problem(), config), to_text(config));
          const Output output = gpu.decode(*workload, config, kLate);
          if (!expected) expected = output;
          BOOST_TEST_REQUIRE((output == *expected), describe(gpu, *workload, config));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_cut_of_stage_2_agrees_with_the_reference_in_every_mode) {
  const auto workload = problem_of("nhead=3", {0, 700, 30});
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    const Space space = make_space(device_of(arch));
    for (const int32_t tiles : space.range(Knob::kStage2Tiles).legal) {
      for (const int32_t warps : space.range(Knob::kStage2Warps).legal) {
        for (const int32_t splits : {2, 17, 40}) {
          KernelConfig config = stage1_shapes(arch).front();
          config.splits = splits;
          config.stage2_tiles = tiles;
          config.stage2_warps = warps;
          for (const amdgcn::Mode mode : kModes) require_right(gpu, *workload, config, mode);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(queries_with_strides_that_no_vector_load_is_aligned_to_are_read) {
  WorkloadOptions options;
  options.q_padding = 3;
  const auto workload = problem_of("nhead=12 q_len=2", {90}, options);
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      require_right(gpu, *workload, with(shape, "splits=2"), kLate);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_an_lse_pointer_the_output_is_the_same) {
  const auto workload = problem_of("nhead=12", {0, 100, 40});
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const int32_t splits : {1, 3}) {
      KernelConfig config = stage1_shapes(arch).back();
      config.splits = splits;
      BOOST_TEST((gpu.decode(*workload, config, kLate, false).out ==
                  gpu.decode(*workload, config, kLate, true).out));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_copy_only_kernels_read_what_the_decode_reads_and_write_nothing) {
  const auto workload = problem_of("nhead=12 page_size=16", {0, 1, 300});
  for (const char* arch : kTargets) {
    EmulatedGpu& gpu = emulated_gpu(arch);
    for (const KernelConfig& shape : stage1_shapes(arch)) {
      for (const amdgcn::Mode mode : kModes) {
        gpu.copy_only(*workload, with(shape, "splits=2"), mode);
      }
    }
  }
}

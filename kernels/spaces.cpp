// SPDX-License-Identifier: MIT
#include "kernels/spaces.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/amd_layout.h"
#include "kernels/nvidia_space.h"
#include "kernels/space_parts.h"

namespace mla {
namespace {

Space host_space(const DeviceInfo& device) {
  const std::string placebo =
      "a placebo on a CPU: its copies are prefetches, so there is nothing to wait for";
  std::vector<KnobRange> ranges = {
      {Knob::kSplits, one_to(kMaxSplits), split_search(device.compute_units), 1, ""},
      {Knob::kTileN, {16, 32, 64, 128}, {16, 32, 64, 128}, 64, ""},
      {Knob::kStages,
       {2, 3, 4},
       {2, 3},
       2,
       "how far ahead rows are prefetched; 3 and 4 measured no faster than 2 (host/NOTES.md)"},
      {Knob::kWait, {kDrained, kPartial}, {kPartial}, kPartial, placebo},
      {Knob::kOrder, {0, 1}, {0, 1}, 0, ""},
      {Knob::kStage1Warps, {0}, {0}, 0, "a CPU thread has no warps"},
      {Knob::kStage2Tiles, {1, 2, 4, 8}, {1, 2, 4, 8}, 1, ""},
      {Knob::kStage2Warps, {0}, {0}, 0, "a CPU thread has no warps"},
      {Knob::kSchedule, {kUniform}, {kUniform}, kUniform, "threads take ranges as they come free"},
      {Knob::kGroupRows, {16, 32, 64}, {16, 32, 64}, 16, ""}};
  const Space space(device, ranges, {});
  return Space(device,
               std::move(ranges),
               {split_major_batch(), split_major_xcds(device.xcds)},
               {space.neutral(32), space.neutral(64)});
}

// A CU of gfx950 has the most LDS; there are no kernels for more.
constexpr int64_t kMaxLdsBytes = 160 * 1024;

Constraint amd_layout_fits(int64_t lds_bytes) {
  return {"local_memory",
          "the copy ring does not fit into " + std::to_string(lds_bytes) + " bytes of LDS",
          [lds_bytes](const Problem&, const KernelConfig& config) {
            return AmdLayout{config.tile_n, config.stages}.bytes() <= lds_bytes;
          }};
}

Constraint bf16_rows() {
  return {"kv_dtype",
          "the kernels of this device read bf16 rows",
          [](const Problem& problem, const KernelConfig&) {
            return problem.kv_dtype == KvDtype::kBf16;
          }};
}

// Neutral is the shape of the published sweeps where it fits, and else the deepest ring.
Space amdgcn_space(const DeviceInfo& device) {
  const int64_t lds_bytes = device.local_memory_bytes > 0
                                ? std::min(device.local_memory_bytes, kMaxLdsBytes)
                                : kMaxLdsBytes;
  const bool large = AmdLayout{64, 2}.bytes() <= lds_bytes;
  std::vector<KnobRange> ranges = {
      {Knob::kSplits, one_to(kMaxSplits), split_search(device.compute_units), 1, ""},
      {Knob::kTileN, {16, 32, 64}, {16, 32, 64}, large ? 64 : 16, ""},
      {Knob::kStages, {2, 3, 4}, {2, 3, 4}, large ? 2 : 3, ""},
      {Knob::kWait, {kDrained, kPartial}, {kDrained, kPartial}, kDrained, ""},
      {Knob::kOrder, {0, 1}, {0, 1}, 0, ""},
      {Knob::kStage1Warps, {kStage1Waves}, {kStage1Waves}, kStage1Waves, "one wave a SIMD"},
      {Knob::kStage2Tiles, {1, 2, 4, 8}, {1, 2, 4, 8}, 1, ""},
      {Knob::kStage2Warps, {1, 2, 4, 8}, {1, 2, 4, 8}, 8, "", true},
      {Knob::kSchedule, {kUniform}, {kUniform}, kUniform, ""},
      {Knob::kGroupRows, {16}, {16}, 16, ""}};
  return Space(device,
               std::move(ranges),
               {split_major_batch(),
                split_major_xcds(device.xcds),
                bf16_rows(),
                amd_layout_fits(lds_bytes)});
}

bool starts_with(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

}  // namespace

Space make_space(const DeviceInfo& device) {
  if (starts_with(device.arch, "gfx")) return amdgcn_space(device);
  if (starts_with(device.arch, "sm_")) return nvidia_space(device);
  return host_space(device);
}

}  // namespace mla

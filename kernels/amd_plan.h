// SPDX-License-Identifier: MIT
// How a configuration is launched on AMD: which kernels, how many workgroups, how much LDS. Plain
// C++, for the launcher and for tests that run the machine code without a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/amd_layout.h"
#include "kernels/config.h"
#include "kernels/row_group.h"
#include "kernels/stage2.h"

namespace mla {

// A compiled stage 1. Split counts, order and stage 2 are run-time values.
struct AmdStage1 {
  int32_t tile_n = 0;
  int32_t stages = 0;
  Wait wait = Wait::kDrain;
  bool wide = false;     // 64-bit addresses of KV rows
  bool products = true;  // false: only the copies

  constexpr bool operator==(const AmdStage1& other) const {
    return tile_n == other.tile_n && stages == other.stages && wait == other.wait &&
           wide == other.wide && products == other.products;
  }
};

// Workgroups of 64 * waves threads.
struct AmdLaunch {
  int64_t workgroups = 0;
  int32_t waves = 0;
  int32_t lds_bytes = 0;  // dynamic; there is no other
};

// 32-bit offsets reach the whole pool. A pool of unknown size may be of any.
constexpr bool is_narrow_pool(const DecodeParams& p) {
  return p.kv_rows > 0 && p.kv_rows * p.kv_row_stride * 2 < int64_t{1} << 32;
}

constexpr AmdStage1 amd_stage1(const DecodeParams& p, const KernelConfig& config, bool products) {
  return {config.tile_n, config.stages, config.wait, !is_narrow_pool(p), products};
}

constexpr AmdLaunch amd_stage1_launch(const DecodeParams& p, const KernelConfig& config) {
  const AmdLayout layout = {config.tile_n, config.stages};
  return {stage1_items(p, config), kStage1Waves, layout.bytes()};
}

constexpr AmdLaunch amd_stage2_launch(const DecodeParams& p, const KernelConfig& config) {
  return {stage2_items(p, config),
          config.stage2_warps,
          amd_merge_bytes(config.splits, config.stage2_tiles)};
}

// Symbols of the kernels: "stage1_n32_s4_partial_b32", "copy_n32_s4_partial_b64", "stage2_t8".
inline std::string symbol_name(const AmdStage1& kernel) {
  return std::string(kernel.products ? "stage1" : "copy") + "_n" + std::to_string(kernel.tile_n) +
         "_s" + std::to_string(kernel.stages) + "_" + std::string(name(kernel.wait)) +
         (kernel.wide ? "_b64" : "_b32");
}
inline std::string stage2_symbol_name(int32_t tiles) {
  return "stage2_t" + std::to_string(tiles);
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// The queries of a wide workgroup on their way to shared memory, as panels (wide_layout.h).
#pragma once

#include "kernels/gpu/nv_ptx.cuh"
#include "kernels/row_group.h"
#include "kernels/wide_layout.h"

namespace mla::gpu {

// Starts to copy all panels of the queries; by the consumers, eight lanes a row. `group`: from the
// workgroup's first query row on. Rows that it lacks are zeros.
__device__ inline void copy_queries(const DecodeParams& p,
                                    const BasicRowGroup<int32_t>& group,
                                    uint8_t* panels) {
  constexpr int kPieceElements = 8;  // 16 bytes
  constexpr int kWarpRows = kWideRows / kWideConsumerWarps;
  constexpr int kLaneRows = kWarpRows / 4;
  const int lane = threadIdx.x % 32, piece = lane % 8;
#pragma unroll
  for (int i = 0; i < kLaneRows; ++i) {
    const int row = threadIdx.x / 32 * kWarpRows + i * 4 + lane / 8;
    const bool present = row < group.rows;
    const uint16_t* source = group.query(p, present ? row : 0) + piece * kPieceElements;
    uint8_t* target = panels + row * kPanelRowBytes + (piece ^ row % 8) * 16;
    if (present && reinterpret_cast<uintptr_t>(source) % 16 == 0) {
#pragma unroll
      for (int panel = 0; panel < kBlockPanels; ++panel) {
        copy16_async(shared_address(target + panel * kPanelBytes), source + panel * kPanelColumns);
      }
      continue;
    }
#pragma unroll 1
    for (int panel = 0; panel < kBlockPanels; ++panel, source += kPanelColumns) {
      const auto pair = [=](int j) {
        return present ? source[j] | uint32_t{source[j + 1]} << 16 : 0u;
      };
      *reinterpret_cast<uint4*>(target + panel * kPanelBytes) = {
          pair(0), pair(2), pair(4), pair(6)};
    }
  }
  commit_copies();
}

}  // namespace mla::gpu

// SPDX-License-Identifier: MIT
// Stage 2 on the CPU.
#include <algorithm>
#include <cmath>

#include "kernels/bf16.h"
#include "kernels/host/host_kernels.h"

namespace mla::host {
namespace {

class HostMergeTile {
 public:
  explicit HostMergeTile(Scratch* scratch) : sum_(scratch->output) {}

  static float exp(float x) { return std::exp(x); }
  static float log(float x) { return std::log(x); }

  void clear(int columns) { std::fill_n(sum_, columns, 0.0f); }

  void add(const float* partial, float weight, int columns) {
    for (int c = 0; c < columns; ++c) sum_[c] += weight * partial[c];
  }

  void store(uint16_t* output, int columns) const {
    for (int c = 0; c < columns; ++c) output[c] = float_to_bf16(sum_[c]);
  }

 private:
  float* sum_;
};

}  // namespace

void run_stage2(const DecodeParams& params,
                const KernelConfig& config,
                const Stage2Item& item,
                Scratch* scratch) {
  HostMergeTile tile(scratch);
  stage2(tile, params, config, item);
}

}  // namespace mla::host

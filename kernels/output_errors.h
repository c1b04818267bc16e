// SPDX-License-Identifier: MIT
// How far an output is from what it should be: the worst row of each kind. Shared by the float64
// reference on the host and the comparison on a device.
#pragma once

#include <cstdint>

#include "kernels/outcome.h"

namespace mla {

// The worst finding so far, and where.
struct WorstRow {
  double error = 0;  // infinite: not finite, or not written
  int64_t token = -1;
  int64_t head = -1;

  void see(double value, int64_t at_token, int64_t at_head) {
    if (value <= error) return;
    error = value;
    token = at_token;
    head = at_head;
  }
};

struct OutputErrors {
  WorstRow output;  // relative L2 of a (token, head)
  WorstRow lse;     // absolute
};

// Design tolerances: relative L2 error per (token, head) and absolute LSE error.
struct Tolerance {
  double output = 3e-3;
  double lse = 1e-4;
};

// kOk, or kNonFinite / kWrong with a text that names the worst (token, head) and its error.
Outcome judge(const OutputErrors& errors, const Tolerance& allowed);

// Of two outputs each of which may be off by the tolerance.
constexpr Tolerance between_outputs(const Tolerance& tolerance) {
  return {2 * tolerance.output, 2 * tolerance.lse};
}

}  // namespace mla

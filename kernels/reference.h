// SPDX-License-Identifier: MIT
// MLA decode in float64, scalar and readable: what every other implementation is checked against.
// Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/decode_params.h"
#include "kernels/output_errors.h"

namespace mla {

Tolerance tolerance(KvDtype dtype);

struct ReferenceRow {
  int64_t token = 0;  // b * q_len + t
  int64_t head = 0;
  std::vector<double> out;  // [512]
  double lse = 0;           // -inf where no row is visible
};

// Host pointers in `params`; out, lse and workspace are not touched.
ReferenceRow reference_row(const DecodeParams& params, int64_t token, int64_t head);

// At most `count` of `total` output rows, index token * nhead + head, ascending: chosen by the
// seed, but the first and the last one always. count >= total gives every row.
std::vector<int64_t> sampled_rows(int64_t total, int64_t count, uint64_t seed);

// The rows that sampled_rows() chooses.
std::vector<ReferenceRow> reference_sample(const DecodeParams& params,
                                           int64_t count,
                                           uint64_t seed);

// kOk, or kNonFinite / kWrong with a text that names the worst (token, head) and its error.
// out: [tokens, nhead, 512] bf16. lse may be null.
Outcome check_against_reference(const std::vector<ReferenceRow>& rows,
                                int64_t nhead,
                                const uint16_t* out,
                                const float* lse,
                                const Tolerance& tolerance);

// Every element of a candidate's output against another output that already passed. The two may
// differ by twice the tolerance, since each may be off by one.
Outcome check_against_output(const DecodeParams& params,
                             const uint16_t* out,
                             const float* lse,
                             const uint16_t* expected_out,
                             const float* expected_lse,
                             const Tolerance& tolerance);

}  // namespace mla

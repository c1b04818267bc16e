// SPDX-License-Identifier: MIT
#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>

#include "kernels/bf16.h"
#include "kernels/fp8.h"
#include "kernels/workload.h"

namespace mla {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A dequantised element of the pool.
struct Bf16Element {
  const uint16_t* pool;
  double operator()(int64_t offset) const { return bf16_to_float(pool[offset]); }
};
struct Fp8Element {
  const uint8_t* pool;
  double scale;
  double operator()(int64_t offset) const { return scale * fp8_to_float(pool[offset]); }
};

// The reference of one output row of `rows` visible rows, whose LSE is -inf so far.
template <class Element>
void attend(const DecodeParams& p, int64_t rows, const Element& element, ReferenceRow* result) {
  const int64_t request = result->token / p.q_len;
  const uint16_t* q = p.q + result->token * p.q_token_stride + result->head * p.q_head_stride;
  std::vector<double> logits(static_cast<size_t>(rows));
  for (int64_t n = 0; n < rows; ++n) {
    const int64_t row = row_offset(p, request, n);
    double sums[8] = {};  // which a compiler may keep in vector registers
    for (int i = 0; i < kHeadDim; i += 8) {
      for (int k = 0; k < 8; ++k) sums[k] += bf16_to_float(q[i + k]) * element(row + i + k);
    }
    for (int k = 1; k < 8; ++k) sums[0] += sums[k];
    logits[static_cast<size_t>(n)] = sums[0] * p.softmax_scale;
  }
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (int64_t n = 0; n < rows; ++n) {
    const double weight = std::exp(logits[static_cast<size_t>(n)] - top);
    const int64_t row = row_offset(p, request, n);
    total += weight;
    for (int i = 0; i < kValueDim; ++i) {
      result->out[static_cast<size_t>(i)] += weight * element(row + i);
    }
  }
  for (double& value : result->out) value /= total;
  result->lse = top + std::log(total);
}

std::string place(int64_t token, int64_t head) {
  return "token " + std::to_string(token) + " head " + std::to_string(head);
}

Outcome wrong(const char* what, const WorstRow& worst, double allowed) {
  char text[160];
  std::snprintf(text,
                sizeof text,
                "%s error %.3g above %.3g at %s",
                what,
                worst.error,
                allowed,
                place(worst.token, worst.head).c_str());
  return {OutcomeKind::kWrong, text};
}

// |out - expected| / |expected|; where nothing is expected, |out|. Infinite for a non-finite
// element.
template <class Expected>
double relative_l2(const uint16_t* out, const Expected& expected) {
  double difference = 0;
  double norm = 0;
  for (int i = 0; i < kValueDim; ++i) {
    const double value = bf16_to_float(out[i]);
    const double delta = value - expected(i);
    difference += delta * delta;
    norm += expected(i) * expected(i);
  }
  const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  return std::isfinite(error) ? error : kInfinity;
}

// Empty rows have an LSE of -inf, which has to match exactly.
double lse_error(double value, double expected) {
  if (std::isinf(expected)) return value == expected ? 0 : kInfinity;
  const double error = std::abs(value - expected);
  return std::isfinite(error) ? error : kInfinity;
}

}  // namespace

Outcome judge(const OutputErrors& errors, const Tolerance& allowed) {
  const auto& [output, lse] = errors;
  if (std::isinf(output.error)) {
    return {OutcomeKind::kNonFinite,
            "output not finite or not written at " + place(output.token, output.head)};
  }
  if (std::isinf(lse.error)) {
    return {OutcomeKind::kNonFinite,
            "LSE not finite or not written at " + place(lse.token, lse.head)};
  }
  if (output.error > allowed.output) return wrong("relative L2", output, allowed.output);
  if (lse.error > allowed.lse) return wrong("LSE", lse, allowed.lse);
  return {};
}

Tolerance tolerance(KvDtype dtype) {
  Tolerance result;
  if (dtype == KvDtype::kFp8) result.output = 5e-3;
  return result;
}

ReferenceRow reference_row(const DecodeParams& p, int64_t token, int64_t head) {
  const int64_t rows = visible_rows(request_rows(p, token / p.q_len), p.q_len, token % p.q_len);
  ReferenceRow result{token, head, std::vector<double>(kValueDim), -kInfinity};
  if (rows == 0) return result;
  if (p.kv_dtype == KvDtype::kFp8) {
    attend(p, rows, Fp8Element{static_cast<const uint8_t*>(p.kv), p.kv_scale}, &result);
  } else {
    attend(p, rows, Bf16Element{static_cast<const uint16_t*>(p.kv)}, &result);
  }
  return result;
}

std::vector<int64_t> sampled_rows(int64_t total, int64_t count, uint64_t seed) {
  std::set<int64_t> chosen;
  if (count >= total) {
    for (int64_t i = 0; i < total; ++i) chosen.insert(i);
  } else {
    chosen = {0, total - 1};
    std::mt19937_64 random(mix64(seed));
    while (static_cast<int64_t>(chosen.size()) < count) {
      chosen.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(total)));
    }
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<ReferenceRow> reference_sample(const DecodeParams& p, int64_t count, uint64_t seed) {
  const int64_t total = int64_t{p.batch} * p.q_len * p.nhead;
  std::vector<ReferenceRow> rows;
  for (const int64_t i : sampled_rows(total, count, seed)) {
    rows.push_back(reference_row(p, i / p.nhead, i % p.nhead));
  }
  return rows;
}

Outcome check_against_reference(const std::vector<ReferenceRow>& rows,
                                int64_t nhead,
                                const uint16_t* out,
                                const float* lse,
                                const Tolerance& tolerance) {
  OutputErrors errors;
  for (const ReferenceRow& row : rows) {
    const int64_t index = row.token * nhead + row.head;
    const auto expected = [&row](int i) { return row.out[static_cast<size_t>(i)]; };
    errors.output.see(relative_l2(out + index * kValueDim, expected), row.token, row.head);
    if (lse != nullptr) {
      errors.lse.see(lse_error(double{lse[index]}, row.lse), row.token, row.head);
    }
  }
  return judge(errors, tolerance);
}

Outcome check_against_output(const DecodeParams& p,
                             const uint16_t* out,
                             const float* lse,
                             const uint16_t* expected_out,
                             const float* expected_lse,
                             const Tolerance& tolerance) {
  OutputErrors errors;
  for (int64_t token = 0; token < int64_t{p.batch} * p.q_len; ++token) {
    for (int64_t head = 0; head < p.nhead; ++head) {
      const int64_t index = token * p.nhead + head;
      const uint16_t* expected_row = expected_out + index * kValueDim;
      const auto expected = [expected_row](int i) {
        return double{bf16_to_float(expected_row[i])};
      };
      errors.output.see(relative_l2(out + index * kValueDim, expected), token, head);
      if (lse != nullptr && expected_lse != nullptr) {
        errors.lse.see(lse_error(double{lse[index]}, double{expected_lse[index]}), token, head);
      }
    }
  }
  return judge(errors, between_outputs(tolerance));
}

}  // namespace mla

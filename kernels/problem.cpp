// SPDX-License-Identifier: MIT
#include "kernels/problem.h"

#include <algorithm>
#include <tuple>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla {
namespace {

auto fields(const Problem& p) {
  return std::tie(p.batch,
                  p.nhead,
                  p.seq_len,
                  p.q_len,
                  p.kv_dtype,
                  p.page_size,
                  p.shared_prefix,
                  p.share_group,
                  p.imbalance,
                  p.pool);
}

[[noreturn]] void bad(const std::string& text) {
  throw Error(ErrorCode::kUsage, text);
}

void check_range(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  bad(std::string(field) + ": " + std::to_string(value) + " is not in " + std::to_string(low) +
      ".." + std::to_string(high));
}

int64_t parse_number(std::string_view field, std::string_view text) {
  int64_t value = 0;
  if (!parse_int(text, &value))
    bad(std::string(field) + ": " + in_quotes(text) + " is not a number");
  return value;
}

int32_t parse_small(std::string_view field, std::string_view text) {
  const int64_t value = parse_number(field, text);
  check_range(std::string(field).c_str(), value, INT32_MIN, INT32_MAX);
  return static_cast<int32_t>(value);
}

// "63240/8": rows and the requests that share them.
void parse_prefix(std::string_view text, Problem* problem) {
  const size_t slash = text.find('/');
  problem->shared_prefix = parse_number("shared_prefix", text.substr(0, slash));
  if (slash != std::string_view::npos) {
    problem->share_group = parse_small("shared_prefix", text.substr(slash + 1));
  }
}

void parse_field(std::string_view field, std::string_view text, Problem* problem) {
  if (field == "batch") {
    problem->batch = parse_small(field, text);
  } else if (field == "nhead") {
    problem->nhead = parse_small(field, text);
  } else if (field == "seq_len") {
    problem->seq_len = parse_number(field, text);
  } else if (field == "q_len") {
    problem->q_len = parse_small(field, text);
  } else if (field == "kv_dtype") {
    if (!parse_kv_dtype(text, &problem->kv_dtype)) {
      bad("kv_dtype: " + in_quotes(text) + " is not bf16 or fp8");
    }
  } else if (field == "page_size") {
    problem->page_size = parse_small(field, text);
  } else if (field == "shared_prefix") {
    parse_prefix(text, problem);
  } else if (field == "imbalance") {
    problem->imbalance = parse_small(field, text);
  } else if (field == "pool") {
    if (text != "small" && text != "large")
      bad("pool: " + in_quotes(text) + " is not small or large");
    problem->pool = text == "large" ? PoolClass::kLarge : PoolClass::kSmall;
  } else {
    bad("unknown problem field " + in_quotes(field));
  }
}

}  // namespace

std::string_view name(KvDtype dtype) {
  return dtype == KvDtype::kFp8 ? "fp8" : "bf16";
}
std::string_view name(PoolClass pool) {
  return pool == PoolClass::kLarge ? "large" : "small";
}

bool parse_kv_dtype(std::string_view text, KvDtype* dtype) {
  if (text != "bf16" && text != "fp8") return false;
  *dtype = text == "fp8" ? KvDtype::kFp8 : KvDtype::kBf16;
  return true;
}

bool Problem::operator==(const Problem& other) const {
  return fields(*this) == fields(other);
}

std::string to_text(const Problem& p) {
  const Problem defaults;
  std::string text = "batch=" + std::to_string(p.batch) + " nhead=" + std::to_string(p.nhead) +
                     " seq_len=" + std::to_string(p.seq_len);
  if (p.q_len != defaults.q_len) text += " q_len=" + std::to_string(p.q_len);
  if (p.kv_dtype != defaults.kv_dtype) text += " kv_dtype=" + std::string(name(p.kv_dtype));
  if (p.page_size != defaults.page_size) text += " page_size=" + std::to_string(p.page_size);
  if (p.shared_prefix != defaults.shared_prefix || p.share_group != defaults.share_group) {
    text +=
        " shared_prefix=" + std::to_string(p.shared_prefix) + "/" + std::to_string(p.share_group);
  }
  if (p.imbalance != defaults.imbalance) text += " imbalance=" + std::to_string(p.imbalance);
  if (p.pool != defaults.pool) text += " pool=" + std::string(name(p.pool));
  return text;
}

Problem parse_problem(std::string_view text) {
  Problem problem;
  std::string seen = " ";
  std::string_view rest = text;
  for (std::string_view word = next_word(&rest); !word.empty(); word = next_word(&rest)) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) bad(in_quotes(word) + " is not field=value");
    const std::string field(word.substr(0, equals));
    if (seen.find(" " + field + " ") != std::string::npos)
      bad(in_quotes(field) + " is given twice");
    seen += field + " ";
    parse_field(field, word.substr(equals + 1), &problem);
  }
  if (seen.find(" batch ") == std::string::npos || seen.find(" nhead ") == std::string::npos ||
      seen.find(" seq_len ") == std::string::npos) {
    bad("a problem needs batch, nhead and seq_len: " + in_quotes(text));
  }
  validate(problem);
  return problem;
}

void validate(const Problem& p) {
  check_range("batch", p.batch, 1, kMaxBatch);
  check_range("nhead", p.nhead, 1, kMaxHeads);
  check_range("seq_len", p.seq_len, 0, kMaxSeqLen);
  check_range("q_len", p.q_len, 1, kMaxQLen);
  if (p.kv_dtype != KvDtype::kBf16 && p.kv_dtype != KvDtype::kFp8) bad("kv_dtype: not bf16 or fp8");
  if (p.pool != PoolClass::kSmall && p.pool != PoolClass::kLarge) bad("pool: not small or large");
  if (p.page_size != 1 && p.page_size != 16 && p.page_size != 64) {
    bad("page_size: " + std::to_string(p.page_size) + " is not 1, 16 or 64");
  }
  check_range("shared_prefix", p.shared_prefix, 0, p.seq_len);
  check_range("shared_prefix", p.share_group, 1, kMaxBatch);
  if (p.shared_prefix % p.page_size != 0) {
    bad("shared_prefix: " + std::to_string(p.shared_prefix) + " rows are not whole pages of " +
        std::to_string(p.page_size));
  }
  if (p.imbalance != 1 && p.imbalance != 2 && p.imbalance != 4 && p.imbalance != 8) {
    bad("imbalance: " + std::to_string(p.imbalance) + " is not 1, 2, 4 or 8");
  }
}

int32_t imbalance_class(int64_t max_len, int64_t mean_len) {
  if (4 * max_len <= 5 * mean_len) return 1;
  if (max_len <= 2 * mean_len) return 2;
  if (max_len <= 4 * mean_len) return 4;
  return 8;
}

double min_kv_bytes(const Problem& p) {
  const double groups = static_cast<double>(ceil_div(p.batch, p.share_group));
  const double shared = p.shared_prefix == 0 ? 0 : groups * static_cast<double>(p.shared_prefix);
  const double own =
      static_cast<double>(p.batch) * static_cast<double>(p.seq_len - p.shared_prefix);
  return (shared + own) * static_cast<double>(row_bytes(p.kv_dtype));
}

double decode_flops(const Problem& p) {
  return 2.0 * p.batch * p.q_len * p.nhead * static_cast<double>(p.seq_len) *
         (kHeadDim + kValueDim);
}

}  // namespace mla

size_t std::hash<mla::Problem>::operator()(const mla::Problem& p) const noexcept {
  uint64_t h = 0;
  const auto add = [&h](int64_t value) {
    h = (h ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  };
  for (const int64_t value : {int64_t{p.batch},
                              int64_t{p.nhead},
                              p.seq_len,
                              int64_t{p.q_len},
                              static_cast<int64_t>(p.kv_dtype),
                              int64_t{p.page_size},
                              p.shared_prefix,
                              int64_t{p.share_group},
                              int64_t{p.imbalance},
                              static_cast<int64_t>(p.pool)}) {
    add(value);
  }
  return h;
}

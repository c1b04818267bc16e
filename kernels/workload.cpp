// SPDX-License-Identifier: MIT
#include "kernels/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/bf16.h"
#include "kernels/error.h"
#include "kernels/fp8.h"
#include "kernels/parallel.h"

namespace mla {
namespace {

// Seeds of independent streams; workload_spikes.cpp has another.
constexpr uint64_t kQueryStream = 0x51;
constexpr uint64_t kPageStream = 0x50;
constexpr uint64_t kLengthStream = 0x4C;

// Index entries past the end: -1 and numbers that no pool holds.
constexpr std::array<int32_t, 4> kGarbageIndices = {-1, INT32_MAX, INT32_MIN, -123456789};
constexpr int64_t kGarbageCount = 131;

// The usual scale of MLA: 1 / sqrt(128 nope + 64 rope) of the uncompressed head.
float softmax_scale() {
  return 1.0f / std::sqrt(192.0f);
}

// Four elements from one hash: 16 bits each, uniform in +-sqrt(3), so that the variance is 1.
void uniform4(uint64_t hash, uint16_t* values) {
  constexpr float kStep = 2 * 1.7320508f / 65535;
  for (int i = 0; i < 4; ++i) {
    const auto level = static_cast<float>((hash >> (16 * i)) & 0xFFFF);
    values[i] = float_to_bf16(level * kStep - 1.7320508f);
  }
}

}  // namespace

void fill_base_row(uint64_t seed, int64_t pool_row, uint16_t* values) {
  const uint64_t row_seed = mix64(seed ^ mix64(static_cast<uint64_t>(pool_row)));
  for (int i = 0; i < kHeadDim; i += 4) {
    uniform4(mix64(row_seed + static_cast<uint64_t>(i)), values + i);
  }
}

void store_row(KvDtype dtype, const uint16_t* values, uint8_t* row) {
  if (dtype == KvDtype::kBf16) {
    std::memcpy(row, values, kHeadDim * sizeof *values);
    return;
  }
  constexpr float kInverse = 1 / kFp8Scale;
  for (int i = 0; i < kHeadDim; ++i) row[i] = float_to_fp8(bf16_to_float(values[i]) * kInverse);
}

Workload::Workload(const Problem& problem, const WorkloadOptions& options)
    : problem_(problem), seed_(options.seed) {
  validate(problem);
  choose_lengths(options);
  place_pages(options);
  fill_queries(options);
  if (options.spikes) make_spikes(options);
  if (options.with_pool) fill_pool();
}

Workload::~Workload() = default;

int64_t Workload::max_length() const {
  return *std::max_element(lengths_.begin(), lengths_.end());
}

// One request of imbalance class k has k x the mean (a class of 1: none stands out); the others
// share what is left evenly, so that the mean stays seq_len as far as whole rows allow.
void Workload::choose_lengths(const WorkloadOptions& options) {
  const int64_t batch = problem_.batch;
  const int64_t prefix = problem_.shared_prefix;
  if (!options.lengths.empty()) {
    if (static_cast<int64_t>(options.lengths.size()) != batch) {
      throw Error(ErrorCode::kUsage,
                  "lengths: " + std::to_string(options.lengths.size()) + " given for a batch of " +
                      std::to_string(batch));
    }
    for (const int64_t length : options.lengths) {
      if (length < 0 || length > kMaxSeqLen || (length > 0 && length < prefix)) {
        throw Error(ErrorCode::kUsage,
                    "lengths: " + std::to_string(length) +
                        " is negative, too long, or shorter than the prefix");
      }
    }
    lengths_ = options.lengths;
    return;
  }
  lengths_.assign(static_cast<size_t>(batch), problem_.seq_len);
  if (problem_.imbalance == 1 || batch == 1) return;
  const int64_t own = problem_.seq_len - prefix;
  const int64_t factor = std::min<int64_t>(problem_.imbalance, batch);
  const int64_t longest = std::min(kMaxSeqLen, prefix + own * factor);
  const int64_t rest = std::max<int64_t>(0, own * batch - (longest - prefix)) / (batch - 1);
  for (int64_t& length : lengths_) length = prefix + rest;
  const uint64_t place = mix64(seed_ ^ kLengthStream) % static_cast<uint64_t>(batch);
  lengths_[place] = longest;
}

namespace {

// Where each request's pages stand in the list of pages in use.
struct PageLayout {
  std::vector<int64_t> first_own;  // [batch]
  std::vector<int64_t> prefix;     // [batch]; the group's shared pages, -1 without
  int64_t used = 0;                // distinct pages
  int64_t entries = 0;             // of kv_indices: shared pages once for each request
};

PageLayout lay_out_pages(const Problem& problem, const std::vector<int64_t>& lengths) {
  const int64_t prefix_pages = problem.shared_prefix / problem.page_size;
  PageLayout layout;
  int64_t group_prefix = -1;
  for (size_t b = 0; b < lengths.size(); ++b) {
    if (b % static_cast<size_t>(problem.share_group) == 0) group_prefix = -1;
    if (prefix_pages > 0 && lengths[b] > 0 && group_prefix < 0) {
      group_prefix = layout.used;
      layout.used += prefix_pages;
    }
    layout.prefix.push_back(group_prefix);
    layout.first_own.push_back(layout.used);
    const int64_t pages = ceil_div(lengths[b], problem.page_size);
    layout.used += std::max<int64_t>(0, pages - prefix_pages);
    layout.entries += pages;
  }
  return layout;
}

int64_t choose_pool_pages(const Problem& problem, int64_t asked, const PageLayout& layout) {
  int64_t pages = asked > 0 ? asked : layout.used + layout.used / 4 + 64;
  if (asked == 0 && problem.pool == PoolClass::kLarge) {
    const int64_t page_bytes = problem.page_size * row_bytes(problem.kv_dtype);
    pages = std::max(pages, ((int64_t{1} << 32) + (int64_t{1} << 29)) / page_bytes);
  }
  if (layout.used > pages) {
    throw Error(
        ErrorCode::kUsage,
        "pool: " + std::to_string(pages) + " pages cannot hold " + std::to_string(layout.used));
  }
  // kv_indptr counts entries and kv_indices pages, both in 32 bits.
  if (std::max(pages, layout.entries) > INT32_MAX - kGarbageCount) {
    throw Error(ErrorCode::kDevice,
                to_text(problem) + ": " + std::to_string(layout.entries) +
                    " page indices are more than 32 bits count");
  }
  return pages;
}

// A keyed permutation of [0, size): a Feistel network over the next power of two, walked until it
// lands inside. No memory, and the same on every machine.
class PagePermutation {
 public:
  PagePermutation(int64_t size, uint64_t seed) : size_(static_cast<uint64_t>(size)), seed_(seed) {
    int bits = 2;
    while (uint64_t{1} << bits < size_) ++bits;
    right_bits_ = bits / 2;
    left_bits_ = bits - right_bits_;
  }

  uint64_t operator()(uint64_t page) const {
    do {
      page = mix(page);
    } while (page >= size_);
    return page;
  }

 private:
  static uint64_t low(uint64_t value, int bits) { return value & ((uint64_t{1} << bits) - 1); }

  // Halves of different width trade places in every round; after an even number of those each is
  // where it was.
  uint64_t mix(uint64_t page) const {
    int left_bits = left_bits_, right_bits = right_bits_;
    uint64_t left = page >> right_bits, right = low(page, right_bits);
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ low(mix64(seed_ + (round << 32) + right), left_bits);
      left = right;
      right = next;
      std::swap(left_bits, right_bits);
    }
    return left << right_bits | right;
  }

  uint64_t size_, seed_;
  int left_bits_, right_bits_;
};

// `used` distinct pages of a pool in random order. The pool's last page is always the first of
// them: the widest offset.
std::vector<int32_t> scattered_pages(int64_t pool_pages, int64_t used, uint64_t seed) {
  constexpr int64_t kPiece = 1 << 16;
  const PagePermutation permutation(pool_pages - 1, seed);
  std::vector<int32_t> order(static_cast<size_t>(std::max<int64_t>(used, 1)));
  order[0] = static_cast<int32_t>(pool_pages - 1);
  parallel_for(ceil_div(used, kPiece), [&](int64_t piece) {
    const int64_t end = std::min(used, (piece + 1) * kPiece);
    for (int64_t i = std::max<int64_t>(1, piece * kPiece); i < end; ++i) {
      order[static_cast<size_t>(i)] =
          static_cast<int32_t>(permutation(static_cast<uint64_t>(i - 1)));
    }
  });
  return order;
}

}  // namespace

void Workload::place_pages(const WorkloadOptions& options) {
  const int64_t page = problem_.page_size;
  const int64_t prefix_pages = problem_.shared_prefix / page;
  const PageLayout layout = lay_out_pages(problem_, lengths_);
  pool_pages_ = choose_pool_pages(problem_, options.pool_pages, layout);
  const std::vector<int32_t> order =
      scattered_pages(pool_pages_, layout.used, mix64(seed_ ^ kPageStream));
  kv_indices_.reserve(static_cast<size_t>(layout.entries + kGarbageCount));
  kv_indptr_.push_back(0);
  for (size_t b = 0; b < lengths_.size(); ++b) {
    const int64_t pages = ceil_div(lengths_[b], page);
    const int64_t shared = std::min(pages, prefix_pages);
    const auto append = [&](int64_t first, int64_t count) {
      const auto begin = order.begin() + first;
      kv_indices_.insert(kv_indices_.end(), begin, begin + count);
    };
    if (shared > 0) append(layout.prefix[b], shared);
    append(layout.first_own[b], pages - shared);
    kv_indptr_.push_back(static_cast<int32_t>(kv_indices_.size()));
    last_page_len_.push_back(
        static_cast<int32_t>(pages == 0 ? 0 : lengths_[b] - (pages - 1) * page));
  }
  for (int64_t i = 0; i < kGarbageCount; ++i) {
    kv_indices_.push_back(kGarbageIndices[static_cast<size_t>(i) % kGarbageIndices.size()]);
  }
}

void Workload::fill_queries(const WorkloadOptions& options) {
  q_head_stride_ = kHeadDim + options.q_padding;
  q_token_stride_ = q_head_stride_ * problem_.nhead + options.q_padding;
  const int64_t tokens = int64_t{problem_.batch} * problem_.q_len;
  q_.assign(static_cast<size_t>(tokens * q_token_stride_), kBf16Nan);
  const uint64_t seed = mix64(seed_ ^ kQueryStream);
  parallel_for(tokens, [&](int64_t token) {
    for (int64_t head = 0; head < problem_.nhead; ++head) {
      fill_base_row(seed,
                    token * kMaxHeads + head,
                    &q_[static_cast<size_t>(token * q_token_stride_ + head * q_head_stride_)]);
    }
  });
}

DecodeParams Workload::params() const {
  DecodeParams p;
  p.batch = problem_.batch;
  p.nhead = problem_.nhead;
  p.q_len = problem_.q_len;
  p.page_size = problem_.page_size;
  p.kv_dtype = problem_.kv_dtype;
  p.softmax_scale = softmax_scale();
  p.kv_scale = problem_.kv_dtype == KvDtype::kFp8 ? kFp8Scale : 1;
  p.q = q_.data();
  p.q_token_stride = q_token_stride_;
  p.q_head_stride = q_head_stride_;
  p.kv = pool_ ? pool_->data() : nullptr;
  p.kv_row_stride = kHeadDim;
  p.kv_rows = pool_pages_ * problem_.page_size;
  p.kv_indptr = kv_indptr_.data();
  p.kv_indices = kv_indices_.data();
  p.last_page_len = last_page_len_.data();
  return p;
}

void Workload::fill_pool() {
  const int64_t page_rows = problem_.page_size;
  const int64_t bytes = row_bytes(problem_.kv_dtype);
  const bool sparse = pool_pages_ > 4 * static_cast<int64_t>(kv_indices_.size());
  pool_ = std::make_unique<NanPool>(static_cast<size_t>(pool_pages_ * page_rows * bytes), sparse);
  uint8_t* pool = pool_->data();
  const DecodeParams p = params();
  std::array<uint16_t, kHeadDim> values;
  for (int64_t b = 0; b < problem_.batch; ++b) {
    const bool first_of_group = b % problem_.share_group == 0;
    const int64_t begin = first_of_group || b == 0 || lengths_[static_cast<size_t>(b - 1)] == 0
                              ? 0
                              : problem_.shared_prefix;
    for (int64_t n = begin; n < lengths_[static_cast<size_t>(b)]; ++n) {
      const int64_t row = row_offset(p, b, n) / p.kv_row_stride;
      fill_base_row(seed_, row, values.data());
      store_row(problem_.kv_dtype, values.data(), pool + row * bytes);
    }
  }
  for (const SpikeRow& spike : spikes_) {
    std::copy(spike.bytes.begin(), spike.bytes.end(), pool + spike.pool_row * bytes);
  }
}

}  // namespace mla

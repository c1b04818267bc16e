// SPDX-License-Identifier: MIT
#include "kernels/workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include "kernels/bf16.h"
#include "kernels/error.h"
#include "kernels/partition.h"

namespace mla {
namespace {

constexpr int kMaxSpikesPerHead = 48;
// Seeds of independent streams.
constexpr uint64_t kQueryStream = 0x51;
constexpr uint64_t kPageStream = 0x50;
constexpr uint64_t kSpikeStream = 0x53;
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

double dot(const uint16_t* a, const uint16_t* b, int first, int last) {
  double sum = 0;
  for (int i = first; i < last; ++i) sum += double{bf16_to_float(a[i])} * bf16_to_float(b[i]);
  return sum;
}

}  // namespace

void fill_base_row(uint64_t seed, int64_t pool_row, uint16_t* values) {
  const uint64_t row_seed = mix64(seed ^ mix64(static_cast<uint64_t>(pool_row)));
  for (int i = 0; i < kHeadDim; i += 4) {
    uniform4(mix64(row_seed + static_cast<uint64_t>(i)), values + i);
  }
}

Workload::Workload(const Problem& problem, const WorkloadOptions& options)
    : problem_(problem), seed_(options.seed) {
  validate(problem);
  if (problem.kv_dtype != KvDtype::kBf16) {
    throw Error(ErrorCode::kUsage, "kv_dtype: fp8 workloads are not supported yet");
  }
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

void Workload::place_pages(const WorkloadOptions& options) {
  const int64_t page = problem_.page_size;
  const int64_t prefix_pages = problem_.shared_prefix / page;
  int64_t used = 0;
  std::vector<int64_t> first_page(lengths_.size());   // of a request's own pages
  std::vector<int64_t> prefix_page(lengths_.size());  // of its group's shared pages
  int64_t group_prefix = -1;
  for (size_t b = 0; b < lengths_.size(); ++b) {
    if (b % static_cast<size_t>(problem_.share_group) == 0) group_prefix = -1;
    if (prefix_pages > 0 && lengths_[b] > 0 && group_prefix < 0) {
      group_prefix = used;
      used += prefix_pages;
    }
    prefix_page[b] = group_prefix;
    first_page[b] = used;
    const int64_t pages = ceil_div(lengths_[b], page);
    used += pages > prefix_pages ? pages - prefix_pages : 0;
  }

  const int64_t page_bytes = page * row_bytes(problem_.kv_dtype);
  pool_pages_ = options.pool_pages > 0 ? options.pool_pages : used + used / 4 + 64;
  if (options.pool_pages == 0 && problem_.pool == PoolClass::kLarge) {
    pool_pages_ = std::max(pool_pages_, ((int64_t{1} << 32) + (int64_t{1} << 29)) / page_bytes);
  }
  if (used > pool_pages_ || pool_pages_ > INT32_MAX) {
    throw Error(
        ErrorCode::kUsage,
        "pool: " + std::to_string(pool_pages_) + " pages cannot hold " + std::to_string(used));
  }

  // The first `used` entries of a random permutation of the pool, without holding the rest.
  std::mt19937_64 random(mix64(seed_ ^ kPageStream));
  std::vector<int32_t> order;
  if (pool_pages_ <= 4 * used) {
    order.resize(static_cast<size_t>(pool_pages_));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    for (size_t i = 0; i < static_cast<size_t>(used); ++i) {
      std::swap(order[i], order[i + random() % (order.size() - i)]);
    }
  } else {
    std::set<int32_t> taken = {static_cast<int32_t>(pool_pages_ - 1)};
    order.push_back(*taken.begin());  // the pool's last page is always in use: the widest offset
    while (static_cast<int64_t>(order.size()) < used) {
      const auto candidate = static_cast<int32_t>(random() % static_cast<uint64_t>(pool_pages_));
      if (taken.insert(candidate).second) order.push_back(candidate);
    }
  }

  kv_indptr_.push_back(0);
  for (size_t b = 0; b < lengths_.size(); ++b) {
    const int64_t pages = ceil_div(lengths_[b], page);
    for (int64_t i = 0; i < pages; ++i) {
      const int64_t slot =
          i < prefix_pages ? prefix_page[b] + i : first_page[b] + (i - prefix_pages);
      kv_indices_.push_back(order[static_cast<size_t>(slot)]);
    }
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
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t head = 0; head < problem_.nhead; ++head) {
      fill_base_row(seed,
                    token * kMaxHeads + head,
                    &q_[static_cast<size_t>(token * q_token_stride_ + head * q_head_stride_)]);
    }
  }
}

DecodeParams Workload::params() const {
  DecodeParams p;
  p.batch = problem_.batch;
  p.nhead = problem_.nhead;
  p.q_len = problem_.q_len;
  p.page_size = problem_.page_size;
  p.kv_dtype = problem_.kv_dtype;
  p.softmax_scale = softmax_scale();
  p.q = q_.data();
  p.q_token_stride = q_token_stride_;
  p.q_head_stride = q_head_stride_;
  p.kv = pool_ ? pool_->data() : nullptr;
  p.kv_row_stride = kHeadDim;
  p.kv_indptr = kv_indptr_.data();
  p.kv_indices = kv_indices_.data();
  p.last_page_len = last_page_len_.data();
  return p;
}

// A spike gives one (t, head) a logit of about log(8 x rows), through the 64 rope columns only, so
// that V stays random: n spikes of equal weight and orthogonal V make an output of which each is 1
// / sqrt(n), above 14 % for 48. The rest of the row's logit is cancelled, so that the weights are
// equal.
void Workload::make_spikes(const WorkloadOptions& options) {
  const DecodeParams p = params();
  const double scale = p.softmax_scale;
  std::mt19937_64 random(mix64(seed_ ^ kSpikeStream));
  std::set<int64_t>
      taken;  // pool rows: a shared row is spiked once, for the first request of its group
  for (int64_t b = 0; b < problem_.batch; ++b) {
    const int64_t rows = lengths_[static_cast<size_t>(b)];
    if (rows == 0) continue;
    std::set<int64_t> edges;
    const auto add_edges = [&](int64_t step) {
      for (int64_t n = 0; step > 0 && n < rows; n += step) {
        edges.insert(n);
        edges.insert(std::min(n + step, rows) - 1);
      }
    };
    add_edges(options.spike_tile_n);
    if (problem_.page_size > 1) add_edges(problem_.page_size);
    for (int64_t s = 0; s < effective_splits(rows, options.spike_splits, options.spike_tile_n);
         ++s) {
      const RowRange range = split_range(rows, options.spike_splits, options.spike_tile_n, s);
      edges.insert({range.begin, range.end - 1});
    }
    std::vector<int64_t> chosen(edges.begin(), edges.end());
    const auto cap = static_cast<size_t>(kMaxSpikesPerHead * problem_.nhead * problem_.q_len);
    if (chosen.size() > cap) {
      // Keep the request's first and last row; shuffle the others.
      std::swap(chosen[1], chosen.back());
      std::shuffle(chosen.begin() + 2, chosen.end(), random);
      chosen.resize(cap);
    }
    const double target = std::log(8.0 * static_cast<double>(rows));
    int64_t turn = static_cast<int64_t>(random() % static_cast<uint64_t>(problem_.nhead));
    for (const int64_t n : chosen) {
      const int64_t pool_row = row_offset(p, b, n) / p.kv_row_stride;
      if (!taken.insert(pool_row).second) continue;
      SpikeRow spike{pool_row, b, n, 0, turn % problem_.nhead, std::vector<uint16_t>(kHeadDim)};
      spike.t = turn / problem_.nhead % problem_.q_len;
      if (n >= visible_rows(rows, problem_.q_len, spike.t)) spike.t = problem_.q_len - 1;
      ++turn;
      fill_base_row(seed_, pool_row, spike.values.data());
      const uint16_t* q =
          p.q + (b * problem_.q_len + spike.t) * q_token_stride_ + spike.head * q_head_stride_;
      const double base = scale * dot(q, spike.values.data(), 0, kValueDim);
      const double rope = scale * dot(q, q, kValueDim, kHeadDim);
      const auto factor = static_cast<float>((target - base) / rope);
      for (int i = kValueDim; i < kHeadDim; ++i) {
        spike.values[static_cast<size_t>(i)] = float_to_bf16(factor * bf16_to_float(q[i]));
      }
      spikes_.push_back(std::move(spike));
    }
  }
}

void Workload::fill_pool() {
  const int64_t page_rows = problem_.page_size;
  const auto pool_bytes =
      static_cast<size_t>(pool_pages_ * page_rows * row_bytes(problem_.kv_dtype));
  const bool sparse = pool_pages_ > 4 * static_cast<int64_t>(kv_indices_.size());
  pool_ = std::make_unique<NanPool>(pool_bytes, sparse);
  auto* pool = reinterpret_cast<uint16_t*>(pool_->data());
  const DecodeParams p = params();
  for (int64_t b = 0; b < problem_.batch; ++b) {
    const bool first_of_group = b % problem_.share_group == 0;
    const int64_t begin = first_of_group || b == 0 || lengths_[static_cast<size_t>(b - 1)] == 0
                              ? 0
                              : problem_.shared_prefix;
    for (int64_t n = begin; n < lengths_[static_cast<size_t>(b)]; ++n) {
      const int64_t offset = row_offset(p, b, n);
      fill_base_row(seed_, offset / p.kv_row_stride, pool + offset);
    }
  }
  for (const SpikeRow& spike : spikes_) {
    std::copy(spike.values.begin(), spike.values.end(), pool + spike.pool_row * p.kv_row_stride);
  }
}

}  // namespace mla

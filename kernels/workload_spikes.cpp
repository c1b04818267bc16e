// SPDX-License-Identifier: MIT
// The spiked rows of a workload: those whose loss or doubling has to show in the output.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <unordered_set>

#include "kernels/bf16.h"
#include "kernels/parallel.h"
#include "kernels/partition.h"
#include "kernels/workload.h"

namespace mla {
namespace {

constexpr int kMaxSpikesPerHead = 48;
// Of a whole workload, so that the largest takes tens of milliseconds to make: every spike costs
// two products with its query. The first and last row of a request are always spiked.
constexpr int64_t kMaxSpikes = 16384;
constexpr int64_t kMinSpikesPerRequest = 64;
constexpr uint64_t kSpikeStream = 0x53;  // a stream apart from those of workload.cpp

double dot(const uint16_t* a, const uint16_t* b, int first, int last) {
  double sum = 0;
  for (int i = first; i < last; ++i) sum += double{bf16_to_float(a[i])} * bf16_to_float(b[i]);
  return sum;
}

// The rows at the edges of tiles, pages and splits; at most `most`, chosen at random, but the first
// and the last row always.
std::vector<int64_t> edge_rows(int64_t rows,
                               const WorkloadOptions& options,
                               int64_t page_size,
                               size_t most,
                               std::mt19937_64& random) {
  std::vector<int64_t> chosen;
  const auto add_edges = [&](int64_t step) {
    for (int64_t n = 0; step > 0 && n < rows; n += step) {
      chosen.push_back(n);
      chosen.push_back(std::min(n + step, rows) - 1);
    }
  };
  add_edges(options.spike_tile_n);
  if (page_size > 1) add_edges(page_size);
  const int64_t splits = effective_splits(rows, options.spike_splits, options.spike_tile_n);
  for (int64_t s = 0; s < splits; ++s) {
    const RowRange range = split_range(rows, options.spike_splits, options.spike_tile_n, s);
    chosen.insert(chosen.end(), {range.begin, range.end - 1});
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  if (chosen.size() > most) {
    std::swap(chosen[1], chosen.back());
    for (size_t i = 2; i < most; ++i) {
      std::swap(chosen[i], chosen[i + random() % (chosen.size() - i)]);
    }
    chosen.resize(most);
  }
  return chosen;
}

// A spike gives one (t, head) a logit of about log(8 x rows), through the 64 rope columns only, so
// that V stays random: n spikes of equal weight and orthogonal V make an output of which each is 1
// / sqrt(n), above 14 % for 48. The rest of the row's logit is cancelled, so that the weights are
// equal.
void aim_at_query(const uint16_t* q, double scale, double target, uint16_t* row) {
  const double base = scale * dot(q, row, 0, kValueDim);
  const double rope = scale * dot(q, q, kValueDim, kHeadDim);
  const auto factor = static_cast<float>((target - base) / rope);
  for (int i = kValueDim; i < kHeadDim; ++i) {
    row[i] = float_to_bf16(factor * bf16_to_float(q[i]));
  }
}

}  // namespace

// Of one request, also where another one of its group has the same row.
std::vector<Workload::SpikeRow> Workload::spikes_of(int64_t request,
                                                    size_t most,
                                                    const WorkloadOptions& options) const {
  const DecodeParams p = params();
  const int64_t rows = lengths_[static_cast<size_t>(request)];
  std::vector<SpikeRow> spikes;
  if (rows == 0) return spikes;
  std::mt19937_64 random(mix64(mix64(seed_ ^ kSpikeStream) + static_cast<uint64_t>(request)));
  const std::vector<int64_t> chosen = edge_rows(rows, options, problem_.page_size, most, random);
  const double target = std::log(8.0 * static_cast<double>(rows));
  const auto bytes = static_cast<size_t>(row_bytes(problem_.kv_dtype));
  std::array<uint16_t, kHeadDim> values;
  int64_t turn = static_cast<int64_t>(random() % static_cast<uint64_t>(problem_.nhead));
  for (const int64_t n : chosen) {
    const int64_t pool_row = row_offset(p, request, n) / p.kv_row_stride;
    SpikeRow spike{pool_row, request, n, 0, turn % problem_.nhead, std::vector<uint8_t>(bytes)};
    spike.t = turn / problem_.nhead % problem_.q_len;
    if (n >= visible_rows(rows, problem_.q_len, spike.t)) spike.t = problem_.q_len - 1;
    ++turn;
    fill_base_row(seed_, pool_row, values.data());
    const uint16_t* q =
        p.q + (request * problem_.q_len + spike.t) * q_token_stride_ + spike.head * q_head_stride_;
    aim_at_query(q, p.softmax_scale, target, values.data());
    store_row(problem_.kv_dtype, values.data(), spike.bytes.data());
    spikes.push_back(std::move(spike));
  }
  return spikes;
}

void Workload::make_spikes(const WorkloadOptions& options) {
  const int64_t share = std::max(kMaxSpikes / problem_.batch, kMinSpikesPerRequest);
  const auto most = static_cast<size_t>(
      std::min<int64_t>(kMaxSpikesPerHead * problem_.nhead * problem_.q_len, share));
  std::vector<std::vector<SpikeRow>> made(static_cast<size_t>(problem_.batch));
  parallel_for(problem_.batch,
               [&](int64_t b) { made[static_cast<size_t>(b)] = spikes_of(b, most, options); });
  // A shared row is spiked once, for the first request of its group.
  std::unordered_set<int64_t> taken;
  for (std::vector<SpikeRow>& of_request : made) {
    for (SpikeRow& spike : of_request) {
      if (taken.insert(spike.pool_row).second) spikes_.push_back(std::move(spike));
    }
  }
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// Inputs for one problem, built so that the usual mistakes of a decode kernel change its output:
//   - KV pages scattered over a pool, NaN in every row that no request may read
//   - -1 and garbage in kv_indices past the end
//   - spikes: rows at the edges of splits, tiles and pages carry so much weight for one (query
//     position, head) that dropping or doubling one moves that output row by more than 10 %
// Everything follows from (problem, options, seed); row contents come from a counter-based hash, so
// a device can fill its own pool and the host can recompute any row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/decode_params.h"
#include "kernels/problem.h"

namespace mla {

// A range of virtual memory that reads as NaN (all bits set) until written. Only written pages take
// memory, so a pool past 4 GiB works on a laptop. Throws Error(kDevice) when it cannot be mapped.
class NanPool {
 public:
  explicit NanPool(size_t bytes, bool sparse);
  ~NanPool();
  NanPool(const NanPool&) = delete;
  NanPool& operator=(const NanPool&) = delete;

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};

struct WorkloadOptions {
  uint64_t seed = 1;
  // Rows per request; empty: derived from the problem's seq_len and imbalance class.
  std::vector<int64_t> lengths;
  // Pages in the pool; 0: 1.25 x the pages in use for a small pool, and past 2^32 bytes for a large
  // one.
  int64_t pool_pages = 0;
  // Spike the first and last row of every tile of this many rows, beside the edges of the splits
  // below and of the pages. Capped at 48 spikes a (query position, head) and at about 16,384 in
  // all, chosen by the seed; the first and last row of a request are always among them.
  int32_t spike_tile_n = 16;
  int32_t spike_splits = 0;  // 0: no split edges beyond those that fall on tiles
  bool spikes = true;
  bool with_pool = true;  // false: indices and q only; the device fills its own pool
  // Extra elements between heads and tokens of q (NaN), to test strides.
  int64_t q_padding = 0;
};

class Workload {
 public:
  // Throws Error(kUsage) for lengths that do not fit the problem.
  Workload(const Problem& problem, const WorkloadOptions& options);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  const Problem& problem() const { return problem_; }
  const std::vector<int64_t>& lengths() const { return lengths_; }
  uint64_t seed() const { return seed_; }
  int64_t pool_pages() const { return pool_pages_; }
  int64_t max_length() const;

  // Input pointers into this workload; out, lse and workspace are left null.
  DecodeParams params() const;

  const std::vector<uint16_t>& q() const { return q_; }
  const std::vector<int32_t>& kv_indptr() const { return kv_indptr_; }
  const std::vector<int32_t>& kv_indices() const { return kv_indices_; }
  const std::vector<int32_t>& last_page_len() const { return last_page_len_; }

  // A spiked row as it stands in the pool.
  struct SpikeRow {
    int64_t pool_row;  // page * page_size + row in page
    int64_t request;
    int64_t n;        // row of the request
    int64_t t, head;  // the query position and head that it weighs on
    std::vector<uint8_t> bytes;
  };
  const std::vector<SpikeRow>& spikes() const { return spikes_; }

 private:
  void choose_lengths(const WorkloadOptions& options);
  void place_pages(const WorkloadOptions& options);
  void fill_queries(const WorkloadOptions& options);
  void fill_pool();
  void make_spikes(const WorkloadOptions& options);
  std::vector<SpikeRow> spikes_of(int64_t request,
                                  size_t most,
                                  const WorkloadOptions& options) const;

  Problem problem_;
  uint64_t seed_;
  std::vector<int64_t> lengths_;
  int64_t pool_pages_ = 0;
  int64_t q_token_stride_ = 0;
  int64_t q_head_stride_ = 0;
  std::vector<uint16_t> q_;
  std::vector<int32_t> kv_indptr_;
  std::vector<int32_t> kv_indices_;
  std::vector<int32_t> last_page_len_;
  std::vector<SpikeRow> spikes_;
  std::unique_ptr<NanPool> pool_;
};

// The 576 elements of an unspiked pool row: zero mean, unit variance, uniform.
void fill_base_row(uint64_t seed, int64_t pool_row, uint16_t* values);

// The scale of a workload's fp8 rows: spikes of up to 30 fit, and no power of two, so that a
// factor lost or doubled shows.
inline constexpr float kFp8Scale = 0.07f;

// A row of bf16 values as the pool has it: row_bytes(dtype) bytes, fp8 ones divided by kFp8Scale.
void store_row(KvDtype dtype, const uint16_t* values, uint8_t* row);

// A fixed mixing function for seeds: splitmix64's finaliser (public domain constants).
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace mla

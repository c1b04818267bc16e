// SPDX-License-Identifier: MIT
#include "kernels/workload_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "kernels/parallel.h"

namespace mla {
namespace {

// What a thread makes and attends to at a time: few enough to stay in its cache.
constexpr int64_t kChunkRows = 1024;

// The rows of a request as a pool would have them.
class RowMaker {
 public:
  explicit RowMaker(const Workload& workload) : workload_(workload), params_(workload.params()) {
    for (const Workload::SpikeRow& spike : workload.spikes()) spikes_[spike.pool_row] = &spike;
  }

  std::vector<uint8_t> rows(int64_t request, int64_t first, int64_t count) const {
    const KvDtype dtype = workload_.problem().kv_dtype;
    const auto bytes = static_cast<size_t>(row_bytes(dtype));
    std::vector<uint8_t> rows(static_cast<size_t>(count) * bytes);
    std::array<uint16_t, kHeadDim> values;
    for (int64_t n = 0; n < count; ++n) {
      uint8_t* row = rows.data() + static_cast<size_t>(n) * bytes;
      const int64_t pool_row = row_offset(params_, request, first + n) / params_.kv_row_stride;
      const auto spike = spikes_.find(pool_row);
      if (spike == spikes_.end()) {
        fill_base_row(workload_.seed(), pool_row, values.data());
        store_row(dtype, values.data(), row);
      } else {
        std::copy(spike->second->bytes.begin(), spike->second->bytes.end(), row);
      }
    }
    return rows;
  }

 private:
  const Workload& workload_;
  const DecodeParams params_;
  std::unordered_map<int64_t, const Workload::SpikeRow*> spikes_;
};

// Part of a request, and what each of the output rows samples[first_sample ..] of that request
// makes of it.
struct Chunk {
  int64_t request, first_row, rows;
  size_t first_sample;
  std::vector<ReferenceRow> parts;
};

void attend(const Workload& workload,
            const RowMaker& maker,
            const std::vector<int64_t>& samples,
            Chunk* chunk) {
  const DecodeParams all = workload.params();
  const std::vector<uint8_t> rows = maker.rows(chunk->request, chunk->first_row, chunk->rows);
  std::vector<int32_t> indices(static_cast<size_t>(chunk->rows));
  std::iota(indices.begin(), indices.end(), 0);
  const int64_t length = workload.lengths()[static_cast<size_t>(chunk->request)];
  for (size_t i = 0; i < chunk->parts.size(); ++i) {
    const int64_t sample = samples[chunk->first_sample + i];
    const int64_t token = sample / all.nhead;
    const int64_t visible = visible_rows(length, all.q_len, token % all.q_len) - chunk->first_row;
    const int32_t indptr[2] = {0,
                               static_cast<int32_t>(std::clamp<int64_t>(visible, 0, chunk->rows))};
    const int32_t last_page_len = 1;
    DecodeParams alone = all;  // one request of one query position
    alone.batch = alone.q_len = alone.page_size = 1;
    alone.q += token * all.q_token_stride;
    alone.kv = rows.data();
    alone.kv_row_stride = kHeadDim;
    alone.kv_indptr = indptr;
    alone.kv_indices = indices.data();
    alone.last_page_len = &last_page_len;
    chunk->parts[i] = reference_row(alone, 0, sample % all.nhead);
  }
}

// Softmax over two ranges of rows from the results of each.
void merge(const ReferenceRow& part, ReferenceRow* row) {
  if (std::isinf(part.lse)) return;
  const double top = std::max(row->lse, part.lse);
  const double own = std::exp(row->lse - top), other = std::exp(part.lse - top);
  const double total = own + other;
  for (size_t i = 0; i < row->out.size(); ++i) {
    row->out[i] = (own * row->out[i] + other * part.out[i]) / total;
  }
  row->lse = top + std::log(total);
}

// Every chunk of the requests that are sampled. `samples` are ascending, so those of a request lie
// together.
std::vector<Chunk> cut(const Workload& workload, const std::vector<int64_t>& samples) {
  const Problem& problem = workload.problem();
  const int64_t rows_of_request = int64_t{problem.q_len} * problem.nhead;
  std::vector<Chunk> chunks;
  for (size_t first = 0, end = 0; first < samples.size(); first = end) {
    const int64_t request = samples[first] / rows_of_request;
    while (end < samples.size() && samples[end] / rows_of_request == request) ++end;
    const int64_t length = workload.lengths()[static_cast<size_t>(request)];
    for (int64_t row = 0; row < length; row += kChunkRows) {
      chunks.push_back({request,
                        row,
                        std::min(kChunkRows, length - row),
                        first,
                        std::vector<ReferenceRow>(end - first)});
    }
  }
  return chunks;
}

}  // namespace

std::vector<ReferenceRow> reference_sample(const Workload& workload, int64_t count, uint64_t seed) {
  const Problem& problem = workload.problem();
  const std::vector<int64_t> samples =
      sampled_rows(int64_t{problem.batch} * problem.q_len * problem.nhead, count, seed);
  const RowMaker maker(workload);
  std::vector<Chunk> chunks = cut(workload, samples);
  parallel_for(static_cast<int64_t>(chunks.size()), [&](int64_t i) {
    attend(workload, maker, samples, &chunks[static_cast<size_t>(i)]);
  });
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<ReferenceRow> rows;
  for (const int64_t sample : samples) {
    rows.push_back({sample / problem.nhead,
                    sample % problem.nhead,
                    std::vector<double>(kValueDim),
                    -kInfinity});
  }
  for (const Chunk& chunk : chunks) {
    for (size_t i = 0; i < chunk.parts.size(); ++i) {
      merge(chunk.parts[i], &rows[chunk.first_sample + i]);
    }
  }
  return rows;
}

}  // namespace mla

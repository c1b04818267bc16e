// SPDX-License-Identifier: MIT
#include "kernels/workload_reference.h"

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <unordered_map>

namespace mla {
namespace {

struct Sample {
  int64_t token = 0, head = 0;
};

// By request. The first and the last (token, head) are always among them.
std::map<int64_t, std::vector<Sample>> choose_samples(const Problem& problem,
                                                      int64_t count,
                                                      uint64_t seed) {
  const int64_t total = int64_t{problem.batch} * problem.q_len * problem.nhead;
  std::set<int64_t> chosen = {0, total - 1};
  std::mt19937_64 random(mix64(seed));
  while (static_cast<int64_t>(chosen.size()) < std::min(count, total)) {
    chosen.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(total)));
  }
  std::map<int64_t, std::vector<Sample>> by_request;
  for (const int64_t i : chosen) {
    const int64_t token = i / problem.nhead;
    by_request[token / problem.q_len].push_back({token, i % problem.nhead});
  }
  return by_request;
}

// The workload as the reference sees it: what only one request needs, with its rows in order.
class RowMaker {
 public:
  explicit RowMaker(const Workload& workload) : workload_(workload), params_(workload.params()) {
    for (const Workload::SpikeRow& spike : workload.spikes()) spikes_[spike.pool_row] = &spike;
  }

  // Row after row as a pool would have them.
  std::vector<uint8_t> rows(int64_t request) const {
    const KvDtype dtype = workload_.problem().kv_dtype;
    const auto bytes = static_cast<size_t>(row_bytes(dtype));
    const int64_t count = workload_.lengths()[static_cast<size_t>(request)];
    std::vector<uint8_t> rows(static_cast<size_t>(count) * bytes);
    std::array<uint16_t, kHeadDim> values;
    for (int64_t n = 0; n < count; ++n) {
      uint8_t* row = rows.data() + static_cast<size_t>(n) * bytes;
      const int64_t pool_row = row_offset(params_, request, n) / params_.kv_row_stride;
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

// One request alone: rows 0, 1, 2, .. of `rows`, page size 1.
std::vector<ReferenceRow> reference_of_request(const Workload& workload,
                                               const RowMaker& maker,
                                               int64_t request,
                                               const std::vector<Sample>& samples) {
  const std::vector<uint8_t> rows = maker.rows(request);
  const auto count = static_cast<int32_t>(workload.lengths()[static_cast<size_t>(request)]);
  const int32_t last_page_len = 1;
  std::vector<int32_t> indices(static_cast<size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  const int32_t indptr[2] = {0, count};
  DecodeParams alone = workload.params();
  alone.batch = 1;
  alone.page_size = 1;
  alone.q += request * alone.q_len * alone.q_token_stride;
  alone.kv = rows.data();
  alone.kv_row_stride = kHeadDim;
  alone.kv_indptr = indptr;
  alone.kv_indices = indices.data();
  alone.last_page_len = &last_page_len;
  std::vector<ReferenceRow> reference;
  for (const Sample& sample : samples) {
    const int64_t token = sample.token - request * alone.q_len;
    reference.push_back(reference_row(alone, token, sample.head));
    reference.back().token = sample.token;
  }
  return reference;
}

}  // namespace

std::vector<ReferenceRow> reference_sample(const Workload& workload, int64_t count, uint64_t seed) {
  const auto by_request = choose_samples(workload.problem(), count, seed);
  const RowMaker maker(workload);
  std::vector<std::future<std::vector<ReferenceRow>>> requests;
  for (const auto& [request, samples] : by_request) {
    requests.push_back(std::async(std::launch::async,
                                  reference_of_request,
                                  std::cref(workload),
                                  std::cref(maker),
                                  request,
                                  std::cref(samples)));
  }
  std::vector<ReferenceRow> rows;
  for (auto& request : requests) {
    std::vector<ReferenceRow> part = request.get();
    std::move(part.begin(), part.end(), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace mla

// SPDX-License-Identifier: MIT
// A graph captured once for a padded batch and replayed while the sequences in it grow.
#include <boost/test/unit_test.hpp>

#include "kernels/gpu/launch.cuh"
#include "kernels/hip/device_memory.cuh"
#include "tests/device/gpu.h"

using namespace mla;
using namespace mla::test;

namespace {

constexpr int32_t kBatch = 5;
constexpr int64_t kMostRows = 5000;

// The table of `full` cut to `lengths`; what lies behind a request's rows stays and is never read.
std::vector<int32_t> cut_lengths(const Workload& full,
                                 const std::vector<int64_t>& lengths,
                                 std::vector<int32_t>* indices) {
  std::vector<int32_t> indptr = {0};
  indices->clear();
  for (size_t b = 0; b < lengths.size(); ++b) {
    const auto begin = full.kv_indices().begin() + full.kv_indptr()[b];
    indices->insert(indices->end(), begin, begin + lengths[b]);
    indptr.push_back(static_cast<int32_t>(indices->size()));
  }
  indices->resize(full.kv_indices().size(), -1);
  return indptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replay)

BOOST_AUTO_TEST_CASE(one_captured_graph_serves_growing_and_padded_requests) {
  Problem problem;
  problem.batch = kBatch;
  problem.seq_len = kMostRows;
  WorkloadOptions options;
  options.spikes = false;
  const Workload full(problem, options);

  hip::Stream stream;
  gpu::Launcher launcher;
  const DeviceInfo& info = test_gpu().info();
  hip::check(
      launcher.init(std::stoi(info.arch.substr(3)), static_cast<size_t>(info.local_memory_bytes)),
      "init");
  const KernelConfig config = config_of(33, 16, 4, 8);

  hip::DeviceMemory q, kv, indptr, indices, last_page_len, out, lse, workspace;
  DecodeParams params = full.params();
  const auto* pool = static_cast<const uint16_t*>(params.kv);
  kv.upload(std::vector<uint16_t>(pool, pool + full.pool_pages() * kHeadDim), "kv");
  q.upload(full.q(), "q");
  indptr.upload(full.kv_indptr(), "indptr");
  indices.upload(full.kv_indices(), "indices");
  last_page_len.upload(std::vector<int32_t>(kBatch, 1), "last_page_len");
  const size_t out_count = size_t{kBatch} * 12 * kValueDim;
  out.require(out_count * 2, "out");
  lse.require(size_t{kBatch} * 12 * 4, "lse");
  workspace.require(static_cast<size_t>(workspace_bytes(kBatch, 1, 12, config.splits)),
                    "workspace");
  DecodeParams device_params = params;
  device_params.q = q.as<uint16_t>();
  device_params.kv = kv.as<void>();
  device_params.kv_indptr = indptr.as<int32_t>();
  device_params.kv_indices = indices.as<int32_t>();
  device_params.last_page_len = last_page_len.as<int32_t>();
  device_params.out = out.as<uint16_t>();
  device_params.lse = lse.as<float>();
  device_params.workspace = workspace.as<void>();
  hip::Graph graph;
  BOOST_REQUIRE(
      graph.capture(stream, [&] { return launcher.decode(device_params, config, stream.get()); })
          .ok());

  std::vector<int64_t> lengths = {0, 1, 15, 400, 0};  // the last is padding
  const std::vector<int64_t> steps = {1, 7, 31, 113, 0};
  for (int step = 0; step < 40; ++step) {
    std::vector<int32_t> table;
    const std::vector<int32_t> begins = cut_lengths(full, lengths, &table);
    indptr.upload(begins, "indptr");
    indices.upload(table, "indices");
    out.poison(out_count * 2, stream.get());
    hip::check(graph.replay(stream), "replay");
    stream.wait();
    BOOST_REQUIRE(out.intact());

    std::vector<uint16_t> values(out_count);
    std::vector<float> sums(size_t{kBatch} * 12);
    hip::check(hipMemcpy(values.data(), out.as<void>(), out_count * 2, hipMemcpyDeviceToHost),
               "out");
    hip::check(hipMemcpy(sums.data(), lse.as<void>(), sums.size() * 4, hipMemcpyDeviceToHost),
               "lse");
    DecodeParams host = params;
    host.kv_indptr = begins.data();
    host.kv_indices = table.data();
    const std::vector<int32_t> ones(kBatch, 1);
    host.last_page_len = ones.data();
    const Outcome outcome = check_against_reference(
        reference_sample(host, 12, 1), 12, values.data(), sums.data(), tolerance(KvDtype::kBf16));
    BOOST_REQUIRE_MESSAGE(outcome.ok(), "step " << step << ": " << outcome.text);
    for (size_t b = 0; b < lengths.size(); ++b) lengths[b] += steps[b];
  }
}

BOOST_AUTO_TEST_SUITE_END()

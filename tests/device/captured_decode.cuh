// SPDX-License-Identifier: MIT
// One decode step on device buffers of a test's own, captured once into a graph: for what a test
// changes between replays and LoadedProblem keeps fixed. Outputs are NaN until written, and the
// pool is NaN around the workload's rows.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "kernels/gpu/launch.cuh"
#include "kernels/hip/device_memory.cuh"
#include "tests/device/gpu.h"

namespace mla::test {

class CapturedDecode {
 public:
  // The workload's pool begins `first_page` pages behind the start of the device's. A workload
  // without a pool leaves all of it NaN.
  CapturedDecode(const Workload& workload, const KernelConfig& config, int64_t first_page = 0)
      : params_(workload.params()) {
    const DeviceInfo& info = test_gpu().info();
    hip::check(launcher_.init(info.arch, static_cast<size_t>(info.local_memory_bytes)), "init");
    fill_pool(workload, first_page);
    std::vector<int32_t> pages = workload.kv_indices();
    const auto used = static_cast<size_t>(workload.kv_indptr().back());
    for (size_t i = 0; i < used; ++i) pages[i] += static_cast<int32_t>(first_page);
    q_.upload(workload.q(), "q");
    indptr_.upload(workload.kv_indptr(), "indptr");
    indices_.upload(pages, "indices");
    last_page_len_.upload(workload.last_page_len(), "last_page_len");
    out_.require(out_bytes(), "out");
    lse_.require(lse_bytes(), "lse");
    workspace_.require(workspace_size(config), "workspace");
    params_.q = q_.as<uint16_t>();
    params_.kv_indptr = indptr_.as<int32_t>();
    params_.kv_indices = indices_.as<int32_t>();
    params_.last_page_len = last_page_len_.as<int32_t>();
    params_.out = out_.as<uint16_t>();
    params_.lse = lse_.as<float>();
    params_.workspace = workspace_.as<void>();
    const Outcome captured =
        graph_.capture(stream_, [&] { return launcher_.decode(params_, config, stream_.get()); });
    BOOST_REQUIRE_MESSAGE(captured.ok(), captured.text);
    workspace_bytes_ = workspace_size(config);
  }

  const hip::Stream& stream() const { return stream_; }
  // Everything but `out`, `lse` and `workspace` may be written between replays.
  int32_t* indptr() const { return indptr_.as<int32_t>(); }
  int32_t* indices() const { return indices_.as<int32_t>(); }
  uint16_t* pool() const { return pool_.as<uint16_t>(); }
  const DecodeParams& params() const { return params_; }
  size_t out_bytes() const { return rows() * kValueDim * sizeof(uint16_t); }
  size_t lse_bytes() const { return rows() * sizeof(float); }

  void poison() {
    out_.poison(out_bytes(), stream_.get());
    lse_.poison(lse_bytes(), stream_.get());
    workspace_.poison(workspace_bytes_, stream_.get());
  }

  // Queued: poison() and replay() wait for nothing.
  void replay() { hip::check(graph_.replay(stream_), "replay"); }

  // Waits, and looks at the canaries.
  Output read() const {
    stream_.wait();
    BOOST_REQUIRE(out_.intact() && lse_.intact() && workspace_.intact());
    Output output;
    output.out.resize(out_bytes() / sizeof(uint16_t));
    output.lse.resize(lse_bytes() / sizeof(float));
    hip::check(hipMemcpy(output.out.data(), params_.out, out_bytes(), hipMemcpyDeviceToHost),
               "out");
    hip::check(hipMemcpy(output.lse.data(), params_.lse, lse_bytes(), hipMemcpyDeviceToHost),
               "lse");
    return output;
  }

 private:
  size_t rows() const { return size_t{1} * params_.batch * params_.q_len * params_.nhead; }
  size_t workspace_size(const KernelConfig& config) const {
    return static_cast<size_t>(
        workspace_bytes(params_.batch, params_.q_len, params_.nhead, config.splits));
  }

  void fill_pool(const Workload& workload, int64_t first_page) {
    const size_t page_bytes =
        size_t{1} * params_.page_size * params_.kv_row_stride * sizeof(uint16_t);
    const size_t bytes = static_cast<size_t>(workload.pool_pages()) * page_bytes;
    const size_t begin = static_cast<size_t>(first_page) * page_bytes;
    pool_.require(begin + bytes, "pool");
    hip::check(hipMemset(pool_.as<void>(), 0xFF, begin + bytes), "pool");
    if (params_.kv != nullptr) {
      hip::check(hipMemcpy(pool_.as<uint8_t>() + begin, params_.kv, bytes, hipMemcpyHostToDevice),
                 "pool");
    }
    hip::check(hipStreamSynchronize(nullptr), "pool");
    params_.kv = pool_.as<void>();
  }

  DecodeParams params_;  // of the device
  hip::Stream stream_;
  gpu::Launcher launcher_;
  hip::DeviceMemory q_, pool_, indptr_, indices_, last_page_len_, out_, lse_, workspace_;
  size_t workspace_bytes_ = 0;
  hip::Graph graph_;
};

}  // namespace mla::test

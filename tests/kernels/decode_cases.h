// SPDX-License-Identifier: MIT
// A workload as somebody else's tensors, for tests of the decode C ABI.
#pragma once

#include <cstring>
#include <string>

#include "kernels/decode/mla_decode.h"
#include "tests/kernels/host_cases.h"

namespace mla::test {

class OpenDecode {
 public:
  explicit OpenDecode(const std::string& spec = "cpu:threads=2") {
    char message[256];
    status_ = mla_decode_open(spec.c_str(), &decode_, message, sizeof message);
    open_message_ = message;
  }
  ~OpenDecode() { mla_decode_close(decode_); }
  OpenDecode(const OpenDecode&) = delete;
  OpenDecode& operator=(const OpenDecode&) = delete;

  mla_decode* get() const { return decode_; }
  mla_status status() const { return status_; }
  const std::string& open_message() const { return open_message_; }
  std::string message() const {
    std::string text(mla_decode_message(decode_, nullptr, 0), '\0');
    mla_decode_message(decode_, text.data(), text.size());
    text.pop_back();
    return text;
  }

 private:
  mla_decode* decode_ = nullptr;
  mla_status status_ = MLA_OK;
  std::string open_message_;
};

inline mla_plan plan_of(const KernelConfig& config) {
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  plan.splits = config.splits;
  plan.tile_n = config.tile_n;
  plan.stages = config.stages;
  plan.wait = static_cast<int32_t>(config.wait);
  plan.order = static_cast<int32_t>(config.order);
  plan.stage1_warps = config.stage1_warps;
  plan.stage2_tiles = config.stage2_tiles;
  plan.stage2_warps = config.stage2_warps;
  plan.schedule = static_cast<int32_t>(config.schedule);
  plan.group_rows = config.group_rows;
  return plan;
}

// Inputs of a workload. The outputs and the workspace hold what no launch writes.
class Tensors {
 public:
  static constexpr float kUnwritten = -1e30f;  // of the LSE; a NaN would not compare

  explicit Tensors(const Workload& workload, int32_t most_splits = 8)
      : Tensors(workload.params(), workload.max_length(), most_splits) {}

  Tensors(const DecodeParams& params, int64_t max_seq_len, int32_t most_splits) {
    const int64_t rows = int64_t{params.batch} * params.q_len * params.nhead;
    output.out.assign(static_cast<size_t>(rows * kValueDim), 0xFFFF);
    output.lse.assign(static_cast<size_t>(rows), kUnwritten);
    abi.struct_size = sizeof abi;
    abi.batch = params.batch;
    abi.nhead = params.nhead;
    abi.q_len = params.q_len;
    abi.page_size = params.page_size;
    abi.softmax_scale = params.softmax_scale;
    abi.kv_dtype = static_cast<int32_t>(params.kv_dtype);
    abi.kv_scale = params.kv_scale;
    abi.max_seq_len = max_seq_len;
    abi.q = params.q;
    abi.q_token_stride = params.q_token_stride;
    abi.q_head_stride = params.q_head_stride;
    abi.kv = params.kv;
    abi.kv_row_stride = params.kv_row_stride;
    abi.kv_indptr = params.kv_indptr;
    abi.kv_indices = params.kv_indices;
    abi.last_page_len = params.last_page_len;
    abi.out = output.out.data();
    abi.lse = output.lse.data();
    abi.workspace_bytes = mla_decode_workspace_bytes(abi.batch, abi.q_len, abi.nhead, most_splits);
    workspace_.assign(static_cast<size_t>(abi.workspace_bytes) / sizeof(Line) + 1, Line{});
    std::memset(workspace_.data(), 0xFF, workspace_.size() * sizeof(Line));
    abi.workspace = workspace_.data();
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  // Whether the line behind the first `bytes` of the workspace is as it was.
  bool intact_behind(int64_t bytes) const {
    const Line& line = workspace_[static_cast<size_t>(bytes) / sizeof(Line)];
    for (const uint8_t byte : line.bytes) {
      if (byte != 0xFF) return false;
    }
    return true;
  }

  mla_tensors abi{};
  Output output;

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  std::vector<Line> workspace_;
};

}  // namespace mla::test

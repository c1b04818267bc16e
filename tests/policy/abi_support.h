// SPDX-License-Identifier: MIT
// Short forms of the C ABI's structs for tests, and a handle that closes itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "policy/mla_policy.h"

namespace mla::testing {

inline mla_device_desc mi355x_desc() {
  mla_device_desc device{};
  device.struct_size = sizeof device;
  device.compute_units = 256;
  device.xcds = 8;
  device.local_memory_bytes = 160 * 1024;
  device.arch = "gfx950";
  return device;
}

inline mla_shape abi_shape(int32_t batch, int64_t seq_len, int32_t nhead = 12) {
  mla_shape shape{};
  shape.struct_size = sizeof shape;
  shape.batch = batch;
  shape.seq_len = seq_len;
  shape.share_group = 8;
  shape.nhead = nhead;
  shape.q_len = 1;
  shape.page_size = 1;
  shape.imbalance = 1;
  return shape;
}

inline mla_plan empty_plan() {
  mla_plan plan{};
  plan.struct_size = sizeof plan;
  return plan;
}

class OpenPolicy {
 public:
  explicit OpenPolicy(const std::vector<std::string>& paths) {
    std::vector<const char*> list;
    for (const std::string& path : paths) list.push_back(path.c_str());
    const char* const none = nullptr;
    open(list.empty() ? &none : list.data(), list.size());
  }
  // The list of MLA_TUNE_DB.
  OpenPolicy() { open(nullptr, 0); }
  ~OpenPolicy() { mla_policy_close(policy_); }
  OpenPolicy(const OpenPolicy&) = delete;
  OpenPolicy& operator=(const OpenPolicy&) = delete;

  mla_policy* get() const { return policy_; }
  mla_status status() const { return status_; }

  mla_plan plan(const mla_shape& shape) const {
    mla_plan plan = empty_plan();
    mla_policy_plan(policy_, &shape, &plan);
    return plan;
  }

  std::string text() const {
    std::string text(mla_policy_status_text(policy_, nullptr, 0), '\0');
    mla_policy_status_text(policy_, text.data(), text.size());
    text.pop_back();
    return text;
  }

  int warnings() const {
    const std::string all = text();
    int count = 0;
    for (size_t at = 0; (at = all.find("\nwarning: ", at)) != std::string::npos; ++at) ++count;
    return count;
  }

 private:
  void open(const char* const* paths, size_t count) {
    const mla_device_desc device = mi355x_desc();
    status_ = mla_policy_open(paths, count, &device, &policy_);
  }

  mla_policy* policy_ = nullptr;
  mla_status status_ = MLA_OK;
};

}  // namespace mla::testing

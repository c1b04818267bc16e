// SPDX-License-Identifier: MIT
// Memory that notices a write behind its end: a canary follows the bytes in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace mla::host {

class GuardedBuffer {
 public:
  static constexpr size_t kCanaryBytes = 4096;
  static constexpr size_t kAlignment = 64;

  // Makes room for `bytes`; the contents are lost where it has to grow.
  void reserve(size_t bytes) {
    if (data_ != nullptr && bytes <= capacity_) return;
    data_.reset(
        static_cast<uint8_t*>(::operator new (bytes + kCanaryBytes, std::align_val_t{kAlignment})));
    capacity_ = bytes;
    used_ = 0;
  }

  // NaN (all bits set) in the first `bytes`, a canary behind them.
  void poison(size_t bytes) {
    reserve(bytes);
    used_ = bytes;
    std::memset(data_.get(), 0xFF, used_);
    std::memset(data_.get() + used_, kCanary, kCanaryBytes);
  }

  bool intact() const {
    for (size_t i = 0; i < kCanaryBytes; ++i) {
      if (data_.get()[used_ + i] != kCanary) return false;
    }
    return true;
  }

  void* data() const { return data_.get(); }

 private:
  static constexpr uint8_t kCanary = 0xA5;
  struct Free {
    void operator()(uint8_t* data) const { ::operator delete (data, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

}  // namespace mla::host

// SPDX-License-Identifier: MIT
// Memory, streams, events and graphs of a HIP device, owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/hip/hip_check.cuh"

namespace mla::hip {

// Device memory that notices a write behind its end: a canary follows the bytes in use.
class DeviceMemory {
 public:
  static constexpr size_t kCanaryBytes = 4096;
  static constexpr uint8_t kCanary = 0xA5;

  DeviceMemory() = default;
  ~DeviceMemory() { release(); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Room for `bytes` and a canary; the contents are lost where it has to grow.
  Outcome reserve(size_t bytes) {
    if (data_ != nullptr && bytes <= capacity_) return {};
    release();
    const Outcome outcome = launch_outcome(hipMalloc(&data_, bytes + kCanaryBytes));
    if (!outcome.ok()) {
      data_ = nullptr;
      return {OutcomeKind::kOutOfMemory, std::to_string(bytes) + " bytes of device memory"};
    }
    capacity_ = bytes;
    return {};
  }

  // reserve(), where there is no going on without.
  void require(size_t bytes, const std::string& what) {
    if (!reserve(bytes).ok()) {
      throw Error(ErrorCode::kDevice,
                  what + ": no " + std::to_string(bytes) + " bytes of device memory");
    }
  }

  template <class T>
  void upload(const std::vector<T>& values, const std::string& what) {
    require(values.size() * sizeof(T), what);
    check(hipMemcpy(data_, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice), what);
    // hipMemcpy from pageable memory may return before the last bytes are there, and a non-blocking
    // stream does not wait for them.
    check(hipStreamSynchronize(nullptr), what);
  }

  // NaN (all bits set) in the first `bytes` and a canary behind them.
  void poison(size_t bytes, hipStream_t stream) {
    used_ = bytes;
    check(hipMemsetAsync(data_, 0xFF, bytes, stream), "poison");
    check(hipMemsetAsync(bytes_at(bytes), kCanary, kCanaryBytes, stream), "canary");
  }

  // Whether the canary of the last poison() is as it was. The stream must be idle.
  bool intact() const {
    std::vector<uint8_t> canary(kCanaryBytes);
    check(hipMemcpy(canary.data(), bytes_at(used_), kCanaryBytes, hipMemcpyDeviceToHost), "canary");
    for (const uint8_t byte : canary) {
      if (byte != kCanary) return false;
    }
    return true;
  }

  void swap(DeviceMemory& other) {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(used_, other.used_);
  }
  size_t capacity() const { return capacity_; }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  uint8_t* bytes_at(size_t offset) const { return static_cast<uint8_t*>(data_) + offset; }
  void release() {
    // A failure here follows one that was reported already.
    if (data_ != nullptr) static_cast<void>(hipFree(data_));
    data_ = nullptr;
    capacity_ = 0;
  }

  void* data_ = nullptr;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

class Stream {
 public:
  Stream() { check(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), "stream"); }
  ~Stream() { static_cast<void>(hipStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  hipStream_t get() const { return stream_; }
  void wait() const { check(hipStreamSynchronize(stream_), "device"); }

 private:
  hipStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(hipEventCreate(&event_), "event"); }
  ~Event() { static_cast<void>(hipEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(const Stream& stream) { check(hipEventRecord(event_, stream.get()), "event"); }
  // Both events must be complete.
  double us_since(const Event& begin) const {
    float ms = 0;
    check(hipEventElapsedTime(&ms, begin.event_, event_), "event");
    return 1e3 * static_cast<double>(ms);
  }

 private:
  hipEvent_t event_ = nullptr;
};

// A captured launch.
class Graph {
 public:
  Graph() = default;
  ~Graph() {
    if (exec_ != nullptr) static_cast<void>(hipGraphExecDestroy(exec_));
  }
  Graph(Graph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // `launch` returns the status of what it put on the stream.
  template <class Launch>
  Outcome capture(const Stream& stream, Launch launch) {
    check(hipStreamBeginCapture(stream.get(), hipStreamCaptureModeThreadLocal), "capture");
    const hipError_t launched = launch();
    hipGraph_t graph = nullptr;
    const hipError_t ended = hipStreamEndCapture(stream.get(), &graph);
    Outcome outcome = launch_outcome(launched);
    if (outcome.ok() && ended != hipSuccess)
      outcome = {OutcomeKind::kNotCapturable, describe(ended)};
    if (outcome.ok()) {
      const hipError_t made = hipGraphInstantiate(&exec_, graph, nullptr, nullptr, 0);
      if (made != hipSuccess) outcome = {OutcomeKind::kNotCapturable, describe(made)};
    }
    if (graph != nullptr) static_cast<void>(hipGraphDestroy(graph));
    if (!outcome.ok()) static_cast<void>(hipGetLastError());
    return outcome;
  }

  hipError_t replay(const Stream& stream) const { return hipGraphLaunch(exec_, stream.get()); }

 private:
  hipGraphExec_t exec_ = nullptr;
};

}  // namespace mla::hip

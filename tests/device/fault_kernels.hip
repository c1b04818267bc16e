// SPDX-License-Identifier: MIT
#include "tests/device/fault_kernels.h"

#include "kernels/hip/hip_executor.cuh"

namespace mla::test {
namespace {

constexpr uint64_t kUnmappedAddress = 64;
constexpr uint64_t kSpin_ns = 20'000'000'000;

__global__ void illegal_read(const volatile int* address, int* sink) {
  *sink = *address;
}

__device__ uint64_t device_time_ns() {
#if defined(__HIP_PLATFORM_NVIDIA__)
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#else
  constexpr uint64_t kTick_ns = 10;  // gfx9's real-time counter runs at 100 MHz
  return kTick_ns * __builtin_readsteadycounter();
#endif
}

__global__ void spin(uint64_t duration_ns) {
  const uint64_t begin = device_time_ns();
  while (device_time_ns() - begin < duration_ns) {
  }
}

}  // namespace

void queue_illegal_read(Device& device) {
  const hipStream_t stream = hip::executor_of(device).stream().get();
  illegal_read<<<1, 1, 0, stream>>>(reinterpret_cast<const int*>(kUnmappedAddress), nullptr);
  hip::check(hipGetLastError(), "illegal_read");
}

void queue_spin(Device& device) {
  spin<<<1, 1, 0, hip::executor_of(device).stream().get()>>>(kSpin_ns);
  hip::check(hipGetLastError(), "spin");
}

}  // namespace mla::test

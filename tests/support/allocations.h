// SPDX-License-Identifier: MIT
// Counts the calls of the C library's allocator. Replaces malloc and its kin for the whole program,
// shared libraries included, so one source file of a test program includes it. Not for sanitizer
// builds, which have allocators of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mla::testing {
inline std::atomic<uint64_t> allocations{0};
}

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* malloc(size_t size) {
  mla::testing::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void free(void* memory) {
  mla::testing::allocations.fetch_add(1, std::memory_order_relaxed);
  __libc_free(memory);
}
void* calloc(size_t count, size_t size) {
  mla::testing::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  mla::testing::allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
}

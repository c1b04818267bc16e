// SPDX-License-Identifier: MIT
// NanPool of workload.h: memory that reads as NaN until written.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "kernels/error.h"
#include "kernels/workload.h"

namespace mla {
namespace {

// One file of NaN, mapped privately over and over: 4 GiB take 64 mappings and 64 MiB of memory.
constexpr size_t kChunkBytes = size_t{64} << 20;

[[noreturn]] void fail(const char* what, size_t bytes) {
  throw Error(ErrorCode::kDevice,
              std::string("KV pool of ") + std::to_string(bytes) + " bytes: " + what + ": " +
                  std::strerror(errno));
}

int nan_chunk() {
  const int file = memfd_create("mla-nan-rows", MFD_CLOEXEC);
  if (file < 0) fail("memfd_create", kChunkBytes);
  void* chunk = ftruncate(file, static_cast<off_t>(kChunkBytes)) == 0
                    ? mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                    : MAP_FAILED;
  if (chunk == MAP_FAILED) {
    const int error = errno;
    close(file);
    errno = error;
    fail("mapping rows of NaN", kChunkBytes);
  }
  std::memset(chunk, 0xFF, kChunkBytes);
  munmap(chunk, kChunkBytes);
  return file;
}

}  // namespace

NanPool::NanPool(size_t bytes, bool sparse) : bytes_(bytes) {
  // Before anything is mapped, so that a failure leaves nothing behind.
  const int file = sparse ? nan_chunk() : -1;
  const int reserve = MAP_PRIVATE | MAP_ANONYMOUS | (sparse ? MAP_NORESERVE : 0);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, reserve, -1, 0);
  const auto give_up = [&](const char* what) {
    const int error = errno;
    if (base != MAP_FAILED) munmap(base, bytes);
    if (file >= 0) close(file);
    errno = error;
    fail(what, bytes);
  };
  if (base == MAP_FAILED) give_up("mmap");
  data_ = static_cast<uint8_t*>(base);
  if (!sparse) {
    // Huge pages: scattered rows would otherwise miss the TLB once each, unlike on any device.
    madvise(base, bytes, MADV_HUGEPAGE);
    std::memset(base, 0xFF, bytes);
    return;
  }
  constexpr int kOverlay = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  for (size_t offset = 0; offset < bytes; offset += kChunkBytes) {
    const size_t length = std::min(kChunkBytes, bytes - offset);
    if (mmap(data_ + offset, length, PROT_READ | PROT_WRITE, kOverlay, file, 0) == MAP_FAILED) {
      give_up("mapping rows of NaN");
    }
  }
  close(file);
}

NanPool::~NanPool() {
  munmap(data_, bytes_);
}

}  // namespace mla

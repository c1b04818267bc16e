// SPDX-License-Identifier: MIT
// The C ABI over a DecodeLauncher. No exception leaves this file.
#include "kernels/decode/mla_decode.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "kernels/decode/decode_arguments.h"
#include "kernels/decode/launcher.h"
#include "kernels/error.h"

struct mla_decode {
  std::unique_ptr<mla::DecodeLauncher> launcher;
  std::string message;  // of the last launch that failed; assigned only there
  bool failed = false;
};

namespace {

static_assert(sizeof(mla_tensors) == 144 && sizeof(mla_plan) == 96);

size_t copy_text(const char* text, char* buffer, size_t size) {
  const size_t length = std::strlen(text);
  if (buffer != nullptr && size > 0) {
    const size_t copied = std::min(length, size - 1);
    std::memcpy(buffer, text, copied);
    buffer[copied] = '\0';
  }
  return length + 1;
}

// Of the exception at hand, whose text goes to `keep`.
template <class Keep>
mla_status status_of_exception(const Keep& keep) {
  try {
    throw;
  } catch (const mla::Error& error) {
    keep(error.what());
    return static_cast<mla_status>(error.code());
  } catch (const std::exception& error) {
    keep(error.what());
    return MLA_ERROR_INTERNAL;
  }
}

}  // namespace

uint32_t mla_decode_version(void) {
  return MLA_DECODE_VERSION_MAJOR * 10000 + MLA_DECODE_VERSION_MINOR * 100 +
         MLA_DECODE_VERSION_PATCH;
}

mla_status mla_decode_open(const char* device,
                           mla_decode** decode,
                           char* message,
                           size_t message_size) try {
  copy_text("", message, message_size);
  if (decode == nullptr) return MLA_ERROR_USAGE;
  *decode = nullptr;
  auto opened = std::make_unique<mla_decode>();
  opened->launcher = mla::open_decode_launcher(device == nullptr ? "" : device);
  *decode = opened.release();
  return MLA_OK;
} catch (...) {
  return status_of_exception([&](const char* text) { copy_text(text, message, message_size); });
}

mla_status mla_decode_describe(const mla_decode* decode, mla_device_desc* device) {
  if (decode == nullptr || device == nullptr) return MLA_ERROR_USAGE;
  if (device->struct_size < sizeof(mla_device_desc)) return MLA_ERROR_USAGE;
  const mla::DeviceInfo& info = decode->launcher->space().device();
  device->compute_units = info.compute_units;
  device->xcds = info.xcds;
  device->group_rows = info.group_rows;
  device->local_memory_bytes = info.local_memory_bytes;
  device->arch = info.arch.c_str();
  device->partition = info.partition.c_str();
  return MLA_OK;
}

int64_t mla_decode_workspace_bytes(int32_t batch, int32_t q_len, int32_t nhead, int32_t splits) {
  if (batch < 1 || q_len < 1 || nhead < 1) return 0;
  return mla::workspace_bytes(batch, q_len, nhead, splits);
}

mla_status mla_decode_launch(mla_decode* decode,
                             const mla_tensors* tensors,
                             const mla_plan* plan,
                             void* stream) {
  if (decode == nullptr) return MLA_ERROR_USAGE;
  decode->failed = true;
  try {
    mla::DecodeLauncher& launcher = *decode->launcher;
    const mla::DecodeArguments arguments =
        mla::read_arguments(tensors, plan, launcher.space(), launcher.row_alignment());
    const mla::Outcome outcome = launcher.launch(arguments.params, arguments.config, stream);
    if (!outcome.ok()) throw mla::Error(mla::ErrorCode::kDevice, outcome.text);
    decode->failed = false;
    return MLA_OK;
  } catch (...) {
    return status_of_exception([&](const char* text) { decode->message = text; });
  }
}

size_t mla_decode_message(const mla_decode* decode, char* buffer, size_t size) {
  if (decode == nullptr) return copy_text("no device", buffer, size);
  return copy_text(decode->failed ? decode->message.c_str() : "", buffer, size);
}

void mla_decode_close(mla_decode* decode) {
  delete decode;
}

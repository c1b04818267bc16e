// SPDX-License-Identifier: MIT
// Any bytes are a recording or an Error(kUsage); nothing else may happen.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kernels/error.h"
#include "tuner/replay_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mla;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    tuner::ReplaySource source(tuner::parse_recording(text, "fuzz.csv", {8, 1}), std::nullopt, 1);
    const std::vector<Problem> problems = source.recorded_problems();
    // A recorded row must be servable without a fault, whatever its values.
    source.select(problems.front(), 1);
    source.admit(source.space().neutral(), true);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUsage) std::abort();
  }
  return 0;
}

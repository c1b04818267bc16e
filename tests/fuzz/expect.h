// SPDX-License-Identifier: MIT
// What the fuzz targets expect of every input. A failed expectation ends the process, as libFuzzer
// wants it.
#pragma once

#include <cstdlib>

#include "kernels/error.h"

namespace mla::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Runs `function`, which may only fail with a usage error that says something.
template <class Function>
void expect_usage_errors_only(Function function) {
  try {
    function();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kUsage);
    require(*error.what() != '\0');
  }
}

}  // namespace mla::fuzz

// SPDX-License-Identifier: MIT
// The one exception type of the project. Its code decides the exit status of a tool and the status
// code at a C ABI; its text names the file, row, flag or value that is at fault.
#pragma once

#include <stdexcept>
#include <string>

namespace mla {

// Stable: the numbers are the C ABI's status codes and the tools' table maps them to exit codes.
enum class ErrorCode : int {
  kUsage = 2,      // an option, value, preset or input file that cannot be understood
  kDevice = 3,     // no usable device, or the device was lost
  kDatabase = 4,   // locked, corrupt, foreign, newer schema, full disk, read-only
  kInternal = 70,  // a broken invariant of ours
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace mla

// SPDX-License-Identifier: MIT
// An environment variable that a test sets for its own duration.
#pragma once

#include <cstdlib>
#include <string>

namespace mla::testing {

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

}  // namespace mla::testing

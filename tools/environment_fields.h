// SPDX-License-Identifier: MIT
// The fields of a software environment: what people read them as, and their key in files.
#pragma once

#include <string>

#include "db/record.h"

namespace mla::tools {

struct EnvironmentField {
  const char* title;
  const char* key;
  std::string db::Environment::*member;
};
inline constexpr EnvironmentField kEnvironmentFields[] = {
    {"driver", "driver", &db::Environment::driver},
    {"runtime", "runtime", &db::Environment::runtime},
    {"compiler", "compiler", &db::Environment::compiler},
    {"kernel code", "code_hash", &db::Environment::code_hash},
    {"tool", "tool_version", &db::Environment::tool_version}};

}  // namespace mla::tools

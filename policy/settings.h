// SPDX-License-Identifier: MIT
// What the environment and the arguments of mla_policy_open() say, read once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policy/mla_policy.h"

namespace mla::policy {

struct Settings {
  std::vector<std::string> paths;
  mla_mode mode = MLA_MODE_LOOKUP;
  std::string pin;  // knobs to hold; empty: none
  std::vector<std::string> warnings;
};

// Null `paths`: those of MLA_TUNE_DB, else the default files.
Settings read_settings(const char* const* paths, size_t path_count);

}  // namespace mla::policy

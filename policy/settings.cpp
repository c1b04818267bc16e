// SPDX-License-Identifier: MIT
#include "policy/settings.h"

#include "policy/default_files.h"

namespace mla::policy {
namespace {

void read_mode(Settings* settings) {
  const std::string mode = variable("MLA_TUNE_MODE");
  if (mode == "off") {
    settings->mode = MLA_MODE_OFF;
  } else if (mode == "deterministic") {
    settings->mode = MLA_MODE_DETERMINISTIC;
  } else if (!mode.empty() && mode != "lookup") {
    settings->warnings.push_back("MLA_TUNE_MODE=" + mode +
                                 " is not known (lookup, off, deterministic): lookups stay on");
  }
}

}  // namespace

Settings read_settings(const char* const* paths, size_t path_count) {
  Settings settings;
  read_mode(&settings);
  settings.pin = variable("MLA_TUNE_PIN");
  if (paths == nullptr) {
    settings.paths = split_paths(variable("MLA_TUNE_DB"));
    if (settings.paths.empty()) settings.paths = default_databases();
  } else {
    for (size_t i = 0; i < path_count; ++i) {
      settings.paths.emplace_back(paths[i] == nullptr ? "" : paths[i]);
    }
  }
  if (settings.paths.empty() && settings.mode == MLA_MODE_LOOKUP) {
    settings.warnings.push_back(
        "no database given (an argument, or MLA_TUNE_DB) and none installed: every answer is the "
        "default");
  }
  return settings;
}

}  // namespace mla::policy

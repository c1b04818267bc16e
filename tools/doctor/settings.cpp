// SPDX-License-Identifier: MIT
// The effective settings, each with the option or variable that it comes from.
#include <fmt/format.h>

#include <cstdlib>

#include "policy/settings.h"
#include "tools/doctor/finding.h"
#include "tools/paths.h"

namespace mla::tools {
namespace {

constexpr const char* kSettings = "settings";
constexpr const char* kDefault = "default";

Finding setting(const char* name, const std::string& value, const std::string& origin) {
  return {.section = kSettings, .name = name, .value = value, .origin = origin};
}

// The first of the variables that is set; else "default".
std::string origin_of(std::initializer_list<const char*> variables) {
  for (const char* name : variables) {
    if (environment_set(name)) return name;
  }
  return kDefault;
}

Finding color(const Options& options) {
  const char* name = "color";
  if (options.color == Color::kAlways) return setting(name, "always", "--color");
  if (options.color == Color::kNever) return setting(name, "never", "--color");
  const bool on = inspect(stdout, Color::kAuto).color;
  return setting(name, on ? "on" : "off", origin_of({"NO_COLOR", "CLICOLOR_FORCE"}));
}

Finding mode(const policy::Settings& settings) {
  const char* const names[] = {"lookup", "off", "deterministic"};
  Finding finding = setting("policy mode", names[settings.mode], origin_of({"MLA_TUNE_MODE"}));
  for (const std::string& warning : settings.warnings) {
    if (!warning.starts_with("MLA_TUNE_MODE")) continue;
    finding.health = Health::kWarning;
    finding.advice = warning;
  }
  return finding;
}

}  // namespace

Findings setting_findings(const Options& options) {
  const policy::Settings library = policy::read_settings(nullptr, 0);
  Findings findings = {
      setting("device",
              options.device.empty() ? "the best present" : options.device,
              options.device.empty() ? kDefault : "--device"),
      setting("database",
              fmt::format("{}", fmt::join(database_paths(options.databases), ":")),
              options.databases.empty()
                  ? origin_of({"MLA_TUNE_DB", "XDG_DATA_HOME", "XDG_DATA_DIRS"})
                  : "--db"),
      mode(library),
      setting(
          "policy pin", library.pin.empty() ? "nothing" : library.pin, origin_of({"MLA_TUNE_PIN"})),
      color(options)};
  for (const char* name : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (environment_set(name)) findings.push_back(setting("visible GPUs", std::getenv(name), name));
  }
  return findings;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// What `mla-tune doctor` looks at: facts about the machine and the set-up that decide whether times
// can be measured, believed and used. Each part returns its findings and changes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "db/record.h"
#include "kernels/space.h"
#include "tools/options.h"
#include "tools/term.h"

namespace mla::tools {

enum class Health {
  kOk,
  kNote,     // worth knowing; nothing is wrong
  kWarning,  // measured times or answers are worse than they could be
  kProblem,  // something does not work
};
const char* name(Health health);  // "ok", "note", "warning", "problem"

struct Finding {
  std::string section;  // "clocks"
  std::string name;     // "governor"
  Health health = Health::kOk;
  std::string value;
  std::string advice = "";  // what to do; empty where nothing is to be done
  std::string origin = "";  // of a setting: the option or variable that it comes from, or "default"
};
using Findings = std::vector<Finding>;

// `root` is "/" but in tests: the folder that /sys, /proc and /dev are looked for in.
Findings cpu_clock_findings(const std::filesystem::path& root, int usable_cpus);
Findings device_node_findings(const std::filesystem::path& root);

// Clocks, throttle reasons and other processes of NVIDIA GPUs, by the driver's own library; empty
// where it cannot be loaded.
Findings nvidia_findings(const char* library = "libnvidia-ml.so.1");

Findings version_findings(const db::Environment& environment, const std::string& driver);

// The space of the device that is asked for; nullopt where it cannot be used.
std::optional<Space> device_findings(const Options& options, Findings* findings);

// `space`: whose rows count as reachable; nullopt: unknown.
Findings database_findings(const Options& options, const std::optional<Space>& space);

// Every setting with where it comes from.
Findings setting_findings(const Options& options);

std::string doctor_text(const Findings& findings, const Terminal& terminal, bool only_faults);
std::string doctor_json(const Findings& findings);

}  // namespace mla::tools

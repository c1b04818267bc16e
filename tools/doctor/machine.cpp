// SPDX-License-Identifier: MIT
// Clocks and load of the CPU, and who may use the GPUs' device nodes, from /sys, /proc and /dev.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "tools/doctor/finding.h"

namespace mla::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClocks = "clocks";
constexpr double kBusyLoad = 0.5;  // of the usable CPUs

// The first line; empty where the file cannot be read.
std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Folders and files whose names begin so, sorted.
std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool numbered = name.size() > prefix.size() &&
                          name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
    if (name.starts_with(prefix) && numbered) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Finding governor(const std::vector<fs::path>& cpus) {
  std::set<std::string> governors;
  for (const fs::path& cpu : cpus) {
    const std::string governor = line_of(cpu / "cpufreq/scaling_governor");
    if (!governor.empty()) governors.insert(governor);
  }
  if (governors.empty()) {
    return {kClocks, "governor", Health::kNote, "not readable, as in most virtual machines"};
  }
  const std::string value = fmt::format("{}", fmt::join(governors, ", "));
  if (value == "performance") return {kClocks, "governor", Health::kOk, value};
  return {kClocks,
          "governor",
          Health::kWarning,
          value,
          "clocks follow the load; set it with: cpupower frequency-set -g performance"};
}

Finding boost(const fs::path& cpu) {
  const std::string boost = line_of(cpu / "cpufreq/boost");
  const std::string no_turbo = line_of(cpu / "intel_pstate/no_turbo");
  if (boost.empty() && no_turbo.empty()) return {kClocks, "boost", Health::kNote, "not readable"};
  const bool on = boost == "1" || no_turbo == "0";
  return {kClocks,
          "boost",
          on ? Health::kNote : Health::kOk,
          on ? "on" : "off",
          on ? "times depend on temperature; ratios within a round do so little" : ""};
}

Finding throttling(const std::vector<fs::path>& cpus) {
  int64_t events = 0;
  bool readable = false;
  for (const fs::path& cpu : cpus) {
    const std::string count = line_of(cpu / "thermal_throttle/core_throttle_count");
    readable = readable || !count.empty();
    events += std::strtoll(count.c_str(), nullptr, 10);
  }
  if (!readable) return {kClocks, "throttling", Health::kNote, "not readable"};
  return {kClocks,
          "throttling",
          events > 0 ? Health::kWarning : Health::kOk,
          count_text(events) + " events since the start of the machine",
          events > 0 ? "see whether the number grows in a run; if so, cool the machine" : ""};
}

Finding load(const fs::path& root, int usable_cpus) {
  const std::string line = line_of(root / "proc/loadavg");
  if (line.empty()) return {kClocks, "load", Health::kNote, "not readable"};
  const double load = std::strtod(line.c_str(), nullptr);
  const bool busy = load > kBusyLoad * usable_cpus;
  return {kClocks,
          "load",
          busy ? Health::kWarning : Health::kOk,
          fmt::format("{:.2f} over the last minute, {} CPUs usable", load, usable_cpus),
          busy ? "measure when nothing else runs" : ""};
}

// "max 100000" or "200000 100000": microseconds in each period.
Finding quota(const fs::path& root, int usable_cpus) {
  const std::string line = line_of(root / "sys/fs/cgroup/cpu.max");
  const double quota_us = std::strtod(line.c_str(), nullptr);
  const size_t blank = line.find(' ');
  const double period_us =
      blank == std::string::npos ? 0 : std::strtod(line.c_str() + blank, nullptr);
  if (quota_us <= 0 || period_us <= 0) return {kClocks, "CPU quota", Health::kOk, "none"};
  const bool cut = quota_us < usable_cpus * period_us;
  return {kClocks,
          "CPU quota",
          cut ? Health::kWarning : Health::kOk,
          fmt::format("{:.1f} CPUs", quota_us / period_us),
          cut ? fmt::format("the kernel stops this container in mid-sample; try --device "
                            "cpu:threads={:.0f}",
                            std::max(1.0, std::floor(quota_us / period_us)))
              : ""};
}

Finding amd_clocks(const fs::path& card) {
  const std::string level = line_of(card / "device/power_dpm_force_performance_level");
  return {kClocks,
          card.filename().string(),
          Health::kNote,
          level.empty() ? "performance level not readable" : "performance level " + level,
          level == "auto" ? "for steadier times: rocm-smi --setperflevel high" : ""};
}

Finding device_node(const fs::path& node) {
  const bool usable = access(node.c_str(), R_OK | W_OK) == 0;
  return {"permissions",
          fmt::format("/{}", node.lexically_relative(node.parent_path().parent_path()).string()),
          usable ? Health::kOk : Health::kWarning,
          usable ? "read and write" : "may not be opened by this user",
          usable ? "" : "add the user to the node's group (render, video) and log in again"};
}

}  // namespace

Findings cpu_clock_findings(const fs::path& root, int usable_cpus) {
  const fs::path cpu = root / "sys/devices/system/cpu";
  const std::vector<fs::path> cpus = entries(cpu, "cpu");
  Findings findings = {governor(cpus),
                       boost(cpu),
                       throttling(cpus),
                       load(root, usable_cpus),
                       quota(root, usable_cpus)};
  for (const fs::path& card : entries(root / "sys/class/drm", "card")) {
    if (line_of(card / "device/vendor") == "0x1002") findings.push_back(amd_clocks(card));
  }
  return findings;
}

Findings device_node_findings(const fs::path& root) {
  std::vector<fs::path> nodes;
  for (const char* single : {"dev/kfd", "dev/nvidiactl"}) {
    if (fs::exists(root / single)) nodes.push_back(root / single);
  }
  for (const fs::path& node : entries(root / "dev", "nvidia")) nodes.push_back(node);
  for (const fs::path& node : entries(root / "dev/dri", "renderD")) nodes.push_back(node);
  Findings findings;
  for (const fs::path& node : nodes) findings.push_back(device_node(node));
  if (findings.empty()) {
    findings.push_back({"permissions", "device nodes", Health::kNote, "no GPU is visible here"});
  }
  return findings;
}

}  // namespace mla::tools

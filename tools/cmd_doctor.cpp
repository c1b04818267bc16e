// SPDX-License-Identifier: MIT
// `mla-tune doctor`: whether this machine can measure, keep and use winners, and what to do if not.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/hip/gpu_driver.h"
#include "kernels/host/cpu_info.h"
#include "policy/mla_policy.h"
#include "tools/commands.h"
#include "tools/doctor/finding.h"
#include "tools/target.h"
#include "tuner/live_source.h"

namespace mla::tools {
namespace {

constexpr const char* kSections[] = {
    "versions", "devices", "clocks", "permissions", "databases", "settings"};

void append(const Findings& more, Findings* findings) {
  findings->insert(findings->end(), more.begin(), more.end());
}

Style style_of(Health health) {
  switch (health) {
    case Health::kOk:
      return Style::kGood;
    case Health::kNote:
      return Style::kPlain;
    case Health::kWarning:
      return Style::kWarn;
    case Health::kProblem:
      return Style::kBad;
  }
  return Style::kPlain;
}

int64_t count(const Findings& findings, Health health) {
  return std::count_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.health == health;
  });
}

Findings all_findings(const Options& options) {
  // Before the device is opened: this program would be one more that uses the GPU.
  const Findings nvidia = nvidia_findings();
  const db::Environment environment = tuner::local_environment();
  Findings findings = version_findings(environment, hip::gpu_driver());
  const std::optional<Space> space = device_findings(options, &findings);
  append(cpu_clock_findings("/", host::usable_threads()), &findings);
  append(nvidia, &findings);
  append(device_node_findings("/"), &findings);
  append(database_findings(options, space), &findings);
  append(setting_findings(options), &findings);
  // Database findings begin with one about permissions: sections stay together.
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    const auto place = [](const Finding& finding) {
      return std::find(std::begin(kSections), std::end(kSections), finding.section);
    };
    return place(a) < place(b);
  });
  return findings;
}

}  // namespace

const char* name(Health health) {
  constexpr const char* kNames[] = {"ok", "note", "warning", "problem"};
  return kNames[static_cast<size_t>(health)];
}

Findings version_findings(const db::Environment& environment, const std::string& driver) {
  const uint32_t library = mla_policy_version();
  const auto version = [](const char* name, const std::string& value) {
    return Finding{"versions", name, Health::kOk, value};
  };
  Findings findings = {
      version("program", "mla-tune " MLA_TUNE_VERSION),
      version("libmla_policy",
              fmt::format("{}.{}.{}", library / 10000, library / 100 % 100, library % 100)),
      version("kernel code", environment.code_hash),
      version("compiler", environment.compiler),
      version("runtime", environment.runtime),
      version("system", environment.driver)};
  if (!driver.empty()) findings.push_back(version("GPU driver", driver));
  return findings;
}

std::optional<Space> device_findings(const Options& options, Findings* findings) {
  if (options.device.empty()) {
    for (const DeviceListing& listing : list_devices()) {
      const bool usable = !listing.info.name.empty();
      findings->push_back({"devices",
                           listing.spec,
                           usable ? Health::kOk : Health::kNote,
                           usable ? listing.info.name + ", " + device_key(listing.info) : "",
                           listing.note});
    }
  }
  try {
    const std::string spec = device_spec(options.device);
    const Space space = space_of(spec);
    if (!options.device.empty()) {
      findings->push_back(
          {"devices", spec, Health::kOk, space.device().name + ", " + device_key(space.device())});
    }
    return space;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUsage) throw;
    findings->push_back({"devices",
                         options.device.empty() ? "any" : options.device,
                         Health::kProblem,
                         error.what(),
                         "mla-tune devices lists what there is"});
    return std::nullopt;
  }
}

std::string doctor_text(const Findings& findings, const Terminal& terminal, bool only_faults) {
  constexpr size_t kValueIndent = 11;  // behind "  warning  "
  std::string text, section;
  for (const Finding& finding : findings) {
    if (only_faults && finding.health < Health::kWarning) continue;
    if (finding.section != section) {
      section = finding.section;
      text += paint(terminal, Style::kBold, section) + "\n";
    }
    std::string line = finding.name + ": " + finding.value;
    if (!finding.origin.empty()) line += "  (" + finding.origin + ")";
    // The state is put in colour when the line is broken.
    const std::string broken =
        wrapped(terminal, fmt::format("  {:<7}  {}", name(finding.health), line), kValueIndent);
    text += "  " + paint(terminal, style_of(finding.health), broken.substr(2, 7)) +
            broken.substr(9) + "\n";
    if (finding.advice.empty()) continue;
    text += wrapped(terminal, std::string(kValueIndent, ' ') + finding.advice, kValueIndent) + "\n";
  }
  return text + fmt::format("problems: {}, warnings: {}\n",
                            count(findings, Health::kProblem),
                            count(findings, Health::kWarning));
}

int cmd_doctor(const Options& options) {
  const Findings findings = all_findings(options);
  fmt::print("{}",
             options.json ? doctor_json(findings) + "\n"
                          : doctor_text(findings, inspect(stdout, options.color), options.quiet));
  return count(findings, Health::kProblem) > 0 ? kNegativeAnswer : kDone;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
#include "tools/target.h"

#include <string_view>
#include <vector>

#include "kernels/device.h"
#include "kernels/error.h"
#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "kernels/text.h"
#include "tools/paths.h"
#include "tuner/sources.h"

namespace mla::tools {
namespace {

constexpr std::string_view kDescribed = "amdgcn:";
constexpr std::string_view kEveryGpu = "hip:all";

DeviceInfo described_device(const std::string& spec) {
  const std::string name = spec.substr(kDescribed.size());
  const KnownDevice* part = find_known_device(name);
  if (part == nullptr) part = find_known_arch(name);
  if (part == nullptr || !std::string_view(part->arch).starts_with("gfx")) {
    throw Error(ErrorCode::kUsage,
                "device " + in_quotes(spec) +
                    ": expected amdgcn:gfx942, amdgcn:gfx950 or a part, " +
                    "such as amdgcn:MI300X");
  }
  return device_info_of(*part);
}

}  // namespace

std::string device_spec(const std::string& given) {
  if (!given.empty()) return given;
  const std::vector<DeviceListing> listings = list_devices();
  if (listings.empty() || listings.front().info.name.empty()) {
    const std::string why = listings.empty() ? "" : ": " + listings.front().note;
    throw Error(ErrorCode::kDevice,
                "no usable device" + why + "; mla-tune doctor says what is missing");
  }
  return listings.front().spec;
}

std::vector<std::string> device_specs(const std::vector<std::string>& given) {
  if (given.empty()) return {device_spec("")};
  std::vector<std::string> specs;
  for (const std::string& spec : given) {
    if (spec != kEveryGpu) {
      specs.push_back(spec);
      continue;
    }
    const size_t before = specs.size();
    for (const DeviceListing& listing : list_devices()) {
      if (listing.spec.starts_with("hip:") && !listing.info.name.empty())
        specs.push_back(listing.spec);
    }
    if (specs.size() == before) throw Error(ErrorCode::kDevice, "hip:all: no usable GPU");
  }
  return specs;
}

bool is_simulated(const std::string& spec) {
  const std::string kind = spec.substr(0, spec.find(':'));
  return kind == "replay" || kind == "analytic";
}

Space space_of(const std::string& spec) {
  if (spec.starts_with(kDescribed)) return make_space(described_device(spec));
  if (is_simulated(spec)) return tuner::open_source(spec, self_executable())->space();
  return open_device(spec)->space();
}

}  // namespace mla::tools

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

DeviceInfo described_device(const std::string& spec) {
  const std::string name = spec.substr(kDescribed.size());
  const KnownDevice* part = find_known_device(name);
  if (part == nullptr) part = find_known_arch(name);
  if (part == nullptr || !std::string_view(part->arch).starts_with("gfx")) {
    throw Error(ErrorCode::kUsage,
                "device " + quoted(spec) + ": expected amdgcn:gfx942, amdgcn:gfx950 or a part, " +
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

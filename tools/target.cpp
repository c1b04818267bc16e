// SPDX-License-Identifier: MIT
#include "tools/target.h"

#include <vector>

#include "kernels/device.h"
#include "kernels/error.h"
#include "tools/paths.h"
#include "tuner/sources.h"

namespace mla::tools {

std::string device_spec(const std::string& given) {
  if (!given.empty()) return given;
  const std::vector<DeviceListing> listings = list_devices();
  if (listings.empty() || listings.front().info.name.empty()) {
    const std::string why = listings.empty() ? "" : ": " + listings.front().note;
    throw Error(ErrorCode::kDevice, "no usable device" + why);
  }
  return listings.front().spec;
}

bool is_simulated(const std::string& spec) {
  const std::string kind = spec.substr(0, spec.find(':'));
  return kind == "replay" || kind == "analytic";
}

Space space_of(const std::string& spec) {
  if (is_simulated(spec)) return tuner::open_source(spec, self_executable())->space();
  return open_device(spec)->space();
}

}  // namespace mla::tools

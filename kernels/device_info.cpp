// SPDX-License-Identifier: MIT
#include "kernels/device_info.h"

namespace mla {

std::string device_key(const DeviceInfo& info) {
  std::string key = info.arch + "/" + std::to_string(info.compute_units) + "cu/" +
                    std::to_string(info.xcds) + "xcd";
  if (!info.partition.empty()) key += "/" + info.partition;
  return key;
}

}  // namespace mla

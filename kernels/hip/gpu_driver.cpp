// SPDX-License-Identifier: MIT
#include "kernels/hip/gpu_driver.h"

#include <fstream>

namespace mla::hip {

std::string gpu_driver(const std::filesystem::path& root) {
  for (const char* module : {"nvidia", "amdgpu"}) {
    const std::filesystem::path folder = root / "sys/module" / module;
    std::ifstream file(folder / "version");
    std::string version;
    std::getline(file, version);
    if (!version.empty()) return std::string(module) + ' ' + version;
    if (std::filesystem::exists(folder)) return std::string(module) + " of the kernel";
  }
  return "";
}

}  // namespace mla::hip

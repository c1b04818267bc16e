// SPDX-License-Identifier: MIT
#include "kernels/known_devices.h"

#include <algorithm>
#include <array>

namespace mla {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;

// In the SPX partition mode. Sources: AMD's product pages of the Instinct series and its GPU
// hardware specification table (CUs, XCDs, LDS, Infinity Cache, memory, clocks); NVIDIA's pages.
// The first of an architecture stands for it.
constexpr std::array<KnownDevice, 7> kKnownDevices = {{
    {"MI300X", "gfx942", 304, 8, 64 * kKiB, 256 * kMiB, 5300, 2100},
    {"MI308X", "gfx942", 80, 4, 64 * kKiB, 256 * kMiB, 0, 0},
    {"MI325X", "gfx942", 304, 8, 64 * kKiB, 256 * kMiB, 6000, 2100},
    {"MI355X", "gfx950", 256, 8, 160 * kKiB, 256 * kMiB, 8000, 2400},
    {"MI350X", "gfx950", 256, 8, 160 * kKiB, 256 * kMiB, 8000, 2200},
    {"H100", "sm_90", 132, 1, 227 * kKiB, 0, 0, 0},
    {"H200", "sm_90", 132, 1, 227 * kKiB, 0, 0, 0},
}};

template <typename Predicate>
const KnownDevice* find(Predicate predicate) {
  const auto found = std::find_if(kKnownDevices.begin(), kKnownDevices.end(), predicate);
  return found == kKnownDevices.end() ? nullptr : &*found;
}

// AMD's names: all XCDs, a half, a quarter, and each for itself.
const char* partition_name(int32_t parts, int32_t xcds) {
  if (parts == 1) return "SPX";
  if (xcds == 1) return "CPX";
  return parts == 2 ? "DPX" : "QPX";
}

}  // namespace

const KnownDevice* find_known_device(const std::string& name) {
  return find([&](const KnownDevice& device) { return name == device.name; });
}

const KnownDevice* find_known_arch(const std::string& arch) {
  return find([&](const KnownDevice& device) { return arch == device.arch; });
}

DeviceInfo device_info_of(const KnownDevice& device) {
  DeviceInfo info;
  known_device(device.name, &info);
  return info;
}

bool known_device(const std::string& name, DeviceInfo* info) {
  const KnownDevice* device = find_known_device(name);
  if (device == nullptr) return false;
  info->name = device->name;
  info->arch = device->arch;
  info->compute_units = device->compute_units;
  info->xcds = device->xcds;
  info->local_memory_bytes = device->local_memory_bytes;
  return true;
}

bool set_amd_partition(DeviceInfo* info) {
  for (const int32_t parts : {1, 2, 4, 8}) {
    const KnownDevice* device = find([&](const KnownDevice& known) {
      return info->arch == known.arch && known.xcds % parts == 0 &&
             info->compute_units * parts == known.compute_units;
    });
    if (device == nullptr) continue;
    info->xcds = device->xcds / parts;
    info->partition = partition_name(parts, info->xcds);
    info->last_level_cache_bytes = device->last_level_cache_bytes;
    return true;
  }
  return false;
}

}  // namespace mla

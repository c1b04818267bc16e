// SPDX-License-Identifier: MIT
// Parts by name: what a recording or a described device is taken for, and what HIP does not tell of
// a part that is there. Plain C++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device_info.h"

namespace mla {

struct KnownDevice {
  const char* name;
  const char* arch;
  int32_t compute_units;
  int32_t xcds;
  int64_t local_memory_bytes;
  int64_t last_level_cache_bytes;  // AMD: the Infinity Cache behind the L2s; 0: HIP tells
  int32_t memory_gb_s;             // peak; 0: not needed of this part
  int32_t clock_mhz;               // peak engine clock; 0: not needed of this part
};

// Null where unknown. Names are those of the products: "MI355X", "H200".
const KnownDevice* find_known_device(const std::string& name);

// The first part with this architecture: MI300X for gfx942, MI355X for gfx950.
const KnownDevice* find_known_arch(const std::string& arch);

// The whole part: its name, arch, CUs, XCDs and LDS.
DeviceInfo device_info_of(const KnownDevice& device);

// Sets what `info` has of a known part, by name; false where unknown.
bool known_device(const std::string& name, DeviceInfo* info);

// Sets XCDs, partition mode and last-level cache of an AMD GPU from its arch and CU count: a
// partition has the CUs of 1, 1/2, 1/4 or 1/8 of the XCDs. False where no known part has that many.
bool set_amd_partition(DeviceInfo* info);

}  // namespace mla

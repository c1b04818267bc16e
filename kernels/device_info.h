// SPDX-License-Identifier: MIT
// What the policy, the spaces and the database know of a device. Plain C++17, no HIP.
#pragma once

#include <cstdint>
#include <string>

namespace mla {

struct DeviceInfo {
  std::string name;           // for people: "AMD EPYC 9575F", "MI355X"
  std::string arch;           // "x86-64", "gfx950", "sm_90": a hard field of every stored row
  std::string partition;      // compute partition mode ("SPX"), empty where there is none; hard
  std::string pci_id;         // "0000:43:00.0", empty where there is none or it is unknown
  int32_t compute_units = 0;  // CUs, SMs or CPU threads; hard
  int32_t xcds = 1;           // chiplets a grid is dealt over; hard
  int32_t group_rows = 16;  // of its smallest row groups; a launch takes those of its configuration
  int64_t memory_bytes = 0;            // 0: unknown
  int64_t local_memory_bytes = 0;      // LDS / shared memory per workgroup; 0: not a limit
  int64_t last_level_cache_bytes = 0;  // 0: unknown

  // True for a recording that holds ratios only: its "microseconds" compare within one shape and
  // must not be shown as times.
  bool relative_times = false;
};

// The hard fields as one text, equal exactly where a stored row may be used:
//   "gfx950/256cu/8xcd" or "gfx942/38cu/1xcd/CPX".
std::string device_key(const DeviceInfo& info);

}  // namespace mla

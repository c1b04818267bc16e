// SPDX-License-Identifier: MIT
// `mla-tune devices`: what could be tuned here, the best first.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/device.h"
#include "tools/commands.h"
#include "tools/json.h"

namespace mla::tools {
namespace {

std::string known_bytes(int64_t bytes) {
  return bytes > 0 ? bytes_text(static_cast<double>(bytes)) : "-";
}

Table device_table(const std::vector<DeviceListing>& listings) {
  Table table;
  table.column("spec");
  table.column("name");
  table.column("arch");
  table.column("CUs", Table::Align::kRight);
  table.column("XCDs", Table::Align::kRight);
  table.column("memory", Table::Align::kRight);
  table.column("LLC", Table::Align::kRight);
  table.column("note");
  for (const DeviceListing& listing : listings) {
    const DeviceInfo& info = listing.info;
    if (info.name.empty()) {
      table.row({listing.spec, "-", "-", "-", "-", "-", "-", listing.note}, Style::kDim);
      continue;
    }
    table.row({listing.spec,
               info.name,
               info.arch,
               std::to_string(info.compute_units),
               std::to_string(info.xcds),
               known_bytes(info.memory_bytes),
               known_bytes(info.last_level_cache_bytes),
               listing.note});
  }
  return table;
}

}  // namespace

int cmd_devices(const Options& options) {
  const std::vector<DeviceListing> listings = list_devices();
  if (options.json) {
    fmt::print("{}\n", devices_json(listings));
  } else {
    fmt::print("{}", device_table(listings).text(inspect(stdout, options.color)));
  }
  const bool usable =
      std::any_of(listings.begin(), listings.end(), [](const DeviceListing& listing) {
        return !listing.info.name.empty();
      });
  return usable ? kDone : kNoDevice;
}

}  // namespace mla::tools

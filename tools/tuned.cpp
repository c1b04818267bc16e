// SPDX-License-Identifier: MIT
#include "tools/tuned.h"

#include "db/store.h"

namespace mla::tools {

TunedConfigs::TunedConfigs(const std::vector<std::string>& databases, const DeviceInfo& device) {
  for (const std::string& path : databases) {
    const db::Store store = db::Store::open(path, db::OpenMode::kReadOnly);
    for (const db::TuningSummary& summary : store.summaries()) {
      if (device_key(summary.device) != device_key(device)) continue;
      configs_.insert_or_assign(summary.winner.problem, summary.winner.config);
    }
  }
}

std::optional<KernelConfig> TunedConfigs::of(const Problem& problem) const {
  const auto found = configs_.find(problem);
  return found == configs_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace mla::tools

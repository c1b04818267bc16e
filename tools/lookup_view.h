// SPDX-License-Identifier: MIT
// One lookup with what explains it: the keys, the stored winners that could have answered, and the
// default.
#pragma once

#include <string>
#include <vector>

#include "db/record.h"
#include "kernels/shape_key.h"
#include "policy/lookup.h"

namespace mla::tools {

struct StoredCandidate {
  std::string match;  // "exact", "bucket" or "neighbour"
  std::string database;
  std::string started_utc;  // of the run that measured it
  db::WinnerRecord winner;
  std::vector<db::LossRecord> losses;  // of neighbours' winners at this shape
};

struct LookupView {
  Problem problem;
  policy::Answer answer;
  KernelConfig default_config;
  bool relative_times = false;  // the database holds ratios: an expected time says nothing
  ShapeKey exact = kNoKey;
  ShapeKey bucket = kNoKey;
  std::vector<StoredCandidate> candidates;  // filled for --explain only
};

// True where a database answered and not the default policy.
bool from_database(policy::Source source);

// Fills `candidates` from the databases that can be read; the rest already are warnings of the
// table.
void add_candidates(const std::vector<std::string>& databases,
                    const DeviceInfo& device,
                    std::vector<LookupView>* views);

std::string lookup_text(const LookupView& view, bool explain);

}  // namespace mla::tools

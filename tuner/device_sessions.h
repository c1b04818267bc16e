// SPDX-License-Identifier: MIT
// One session on several devices of a host: each measures its share of the shapes in a thread of
// its own and writes them with itself as their device; what a lost device leaves over goes to the
// others. Winners at neighbouring shapes are measured at the end, by one device for all.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/session.h"

namespace mla::tuner {

// Throws Error(kUsage) where two of `sources` are one device, or their hard fields differ, so that
// a winner of one would not be an answer for the other; Error(kDevice) where all were lost before
// any shape was finished. Calls of `observer` do not overlap.
SessionResult run_device_sessions(const std::vector<std::unique_ptr<CandidateSource>>& sources,
                                  const std::string& database,
                                  const db::RunInfo& run,
                                  const std::vector<Problem>& problems,
                                  const SessionOptions& options,
                                  const std::function<void(const ProgressEvent&)>& observer,
                                  const std::atomic<bool>& stop);

}  // namespace mla::tuner

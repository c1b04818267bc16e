// SPDX-License-Identifier: MIT
// Ends this process with SIGKILL at the n-th moment of a kind. Moments are calls of the candidate
// source and SQLite's system calls that change a file: between two of them nothing changes that
// outlives the process, so they stand for every instant of a run, and a seed names one whatever the
// machine's speed. A write is cut in half.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "tuner/source.h"

namespace mla::test {

enum class Moment : int { kAny = 0, kFileChange = 1, kFinalSample = 2 };

struct MomentCounts {
  std::array<int64_t, 3> seen{};  // by Moment
};

// Starts counting into `counts` (which may be shared memory). nth counts from 1; 0 never kills.
void arm(MomentCounts* counts, Moment moment, int64_t nth);

// From here on SQLite's file changes of this process are moments.
void watch_sqlite();

// `source` with its calls as moments.
std::unique_ptr<tuner::CandidateSource> watch(std::unique_ptr<tuner::CandidateSource> source);

}  // namespace mla::test

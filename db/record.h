// SPDX-License-Identifier: MIT
// Rows of the tuning database as plain structs. No SQLite here. FORMAT.md describes the columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/outcome.h"
#include "kernels/problem.h"

namespace mla::db {

// Soft fields: a difference keeps a row as "verify again".
struct Environment {
  std::string driver;
  std::string runtime;
  std::string compiler;
  std::string code_hash;
  std::string tool_version;

  bool operator==(const Environment&) const = default;
};

struct RunInfo {
  std::string started_utc;  // ISO 8601
  std::string host;
  std::string command_line;
  uint64_t seed = 1;
  int64_t free_memory_bytes = 0;
};

// What makes two tunings of a shape the same piece of work: a finished one is not repeated, an
// interrupted one is continued.
struct TuningKey {
  DeviceInfo device;
  Environment environment;
  Problem problem;
  std::string protocol;  // canonical text of every option that changes what is measured
  uint64_t seed = 1;
};

// Names reach the database.
enum class Phase : int32_t { kSearch = 0, kSemifinal = 1, kFinal = 2, kCross = 3 };
std::string_view name(Phase phase);

struct SampleRecord {
  KernelConfig config;
  int32_t position = 0;  // place in the round's rotated order
  // The final's legs by role; several legs may hold equal configurations (the placebo is the
  // default).
  std::string role;    // "candidate", "default", "drained", "placebo"
  double time_us = 0;  // 0 where outcome is not ok
  OutcomeKind outcome = OutcomeKind::kOk;
};

// One round: every live candidate once. Written in one transaction.
struct RoundRecord {
  Phase phase = Phase::kSearch;
  int32_t rung = 0;
  int32_t round = 0;
  int32_t attempt = 0;  // a final or crossing that was cut starts again as the next attempt
  std::vector<SampleRecord> samples;
};

// An admission result other than plain ok, or the count of crashes so far.
struct OutcomeRecord {
  KernelConfig config;
  Outcome outcome;
  int32_t crashes = 0;
};

// Names reach the database.
enum class Verdict : int32_t {
  kFaster = 0,       // the winner beat the reference by the margin in the sign test
  kDefaultBest = 1,  // no candidate did better; "keep the default" is an answer
  kUndecided = 2,    // the rounds ran out between the two
  kSlower = 3,       // the best candidate lost by the margin (the default is kept)
  kFailed = 4,       // neither the default nor the drained baseline could be measured
};
std::string_view name(Verdict verdict);
bool parse_verdict(std::string_view text, Verdict* verdict);

enum class WinnerStatus : int32_t { kActive = 0, kDemoted = 1, kVerifyAgain = 2 };
std::string_view name(WinnerStatus status);

struct WinnerRecord {
  Problem problem;
  KernelConfig config;          // what the lookup answers
  KernelConfig default_config;  // the default policy's answer at tuning time
  KernelConfig finalist;        // the best candidate, also where it did not win
  Verdict verdict = Verdict::kDefaultBest;
  std::string reference = "default";  // what it was compared with: "default" or "drained"
  double gain = 0;      // median over rounds of reference / winner - 1; 0 where the default is kept
  double gain_low = 0;  // interquartile range of the same
  double gain_high = 0;
  double finalist_gain = 0;  // of the finalist, also where it did not win
  double drained_gain = 0;  // of the winner against the drained baseline; NaN-free, 0 if unmeasured
  int32_t rounds = 0;
  int32_t wins = 0;
  int32_t losses = 0;
  double p_value = 1;
  double placebo_noise = 0;  // median |ratio - 1| of the placebo
  double default_us = 0;     // median of the reference; 0: not measured
  double expected_us = 0;    // median of the winner
  int64_t workspace_bytes = 0;
  bool capture_checked = false;
  WinnerStatus status = WinnerStatus::kActive;
  int64_t configs_measured = 0;
  int64_t configs_pruned = 0;
  int64_t configs_failed = 0;
};

// The winner of a grid neighbour at this shape: guard point 2. Against the default, in paired
// rounds of its own.
struct LossRecord {
  KernelConfig config;
  double loss = 0;      // median over rounds of time / default's time - 1; below 0 it is faster
  double loss_low = 0;  // quartiles of the same
  double loss_high = 0;
  int32_t rounds = 0;  // 0: could not be measured, and counts as an infinite loss
  int32_t wins = 0;    // rounds that the configuration won by the guard's margin, and lost
  int32_t losses = 0;
  double placebo_noise = 0;  // median |ratio - 1| of the placebo
};

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// Records of a fictional device for tests of the store.
#pragma once

#include <string>

#include "db/record.h"

namespace mla::testing {

inline DeviceInfo sample_device() {
  DeviceInfo device;
  device.name = "Fictional 9";
  device.arch = "gfx999";
  device.partition = "SPX";
  device.pci_id = "0000:43:00.0";
  device.compute_units = 64;
  device.xcds = 2;
  device.memory_bytes = int64_t{1} << 36;
  device.local_memory_bytes = 160 * 1024;
  device.last_level_cache_bytes = int64_t{1} << 28;
  return device;
}

inline db::Environment sample_environment() {
  return {"driver 1", "runtime 2", "compiler 3", "code 4", "tool 5"};
}

inline db::RunInfo sample_run() {
  return {"2026-01-02T03:04:05Z", "host", "mla-tune run --batch 8", 0xFFFFFFFFFFFFFFF0u, 1 << 30};
}

inline Problem sample_problem(int32_t batch = 8) {
  Problem problem;
  problem.batch = batch;
  problem.seq_len = 68000;
  return problem;
}

inline db::TuningKey sample_key(int32_t batch = 8) {
  return {
      sample_device(), sample_environment(), sample_problem(batch), "rounds=60 margin=0.005", 7};
}

// `samples` legs with times that tell each one apart.
inline db::RoundRecord sample_round(int32_t round, int samples, const KernelConfig& base) {
  db::RoundRecord record;
  record.phase = db::Phase::kSearch;
  record.round = round;
  for (int i = 0; i < samples; ++i) {
    db::SampleRecord& sample = record.samples.emplace_back();
    sample.config = base;
    sample.config.splits = 1 + i % 64;
    sample.position = samples - 1 - i;
    sample.role = i == 0 ? "default" : "candidate";
    sample.time_us = 100.0 + i + 0.001 * round;
  }
  return record;
}

inline db::WinnerRecord sample_winner(const Problem& problem, const KernelConfig& base) {
  db::WinnerRecord winner;
  winner.problem = problem;
  winner.default_config = base;
  winner.config = base;
  winner.config.splits = 2;
  winner.finalist = winner.config;
  winner.finalist.wait = Wait::kPartial;
  winner.verdict = db::Verdict::kFaster;
  winner.gain = 0.04;
  winner.gain_low = 0.03;
  winner.gain_high = 0.05;
  winner.finalist_gain = 0.045;
  winner.drained_gain = 0.1;
  winner.rounds = 15;
  winner.wins = 14;
  winner.losses = 1;
  winner.p_value = 0.0005;
  winner.placebo_noise = 0.003;
  winner.default_us = 104;
  winner.expected_us = 100;
  winner.workspace_bytes = 12345;
  winner.capture_checked = true;
  winner.configs_measured = 20;
  winner.configs_pruned = 30;
  winner.configs_failed = 1;
  return winner;
}

}  // namespace mla::testing

// SPDX-License-Identifier: MIT
#include "db/fake_winners.h"

#include <random>

#include "db/fields.h"
#include "db/schema.h"
#include "kernels/spaces.h"

namespace mla::db {
namespace {

// Distinct by construction: index 0.. runs through lengths, then batches, then head counts.
Problem fake_problem(int64_t index) {
  constexpr int kLengths = 64, kBatches = 256;
  Problem problem;
  problem.seq_len = 512 + 256 * (index % kLengths);
  problem.batch = static_cast<int32_t>(1 + index / kLengths % kBatches);
  problem.nhead = static_cast<int32_t>(1 + index / kLengths / kBatches % kMaxHeads);
  problem.q_len = static_cast<int32_t>(1 + index / kLengths / kBatches / kMaxHeads);
  return problem;
}

KernelConfig fake_config(const Space& space, const Problem& problem, std::mt19937_64& random) {
  KernelConfig config = space.neutral();
  for (const KnobRange& range : space.ranges()) {
    KernelConfig changed = config;
    set(&changed, range.knob, range.search[random() % range.search.size()]);
    if (!space.violation(problem, changed)) config = changed;
  }
  return config;
}

WinnerRecord fake_winner(const Space& space, const Problem& problem, std::mt19937_64& random) {
  WinnerRecord winner;
  winner.problem = problem;
  winner.default_config = space.neutral();
  winner.config = fake_config(space, problem, random);
  winner.finalist = winner.config;
  winner.verdict = Verdict::kFaster;
  winner.gain = 0.005 + 0.0001 * static_cast<double>(random() % 2000);
  winner.gain_low = winner.gain / 2;
  winner.gain_high = winner.gain * 2;
  winner.finalist_gain = winner.gain;
  winner.rounds = 15;
  winner.wins = 14;
  winner.losses = 1;
  winner.p_value = 0.0005;
  winner.default_us = 10 + static_cast<double>(random() % 1000);
  winner.expected_us = winner.default_us / (1 + winner.gain);
  return winner;
}

}  // namespace

void write_fake_winners(const std::string& path,
                        const DeviceInfo& device,
                        int64_t count,
                        uint64_t seed) {
  const Space space = make_space(device);
  std::mt19937_64 random(seed);
  Connection c(path, OpenMode::kReadWrite);
  prepare_for_writing(c);
  // A transaction that outgrows the cache is written to the log twice.
  c.outside_transaction([&] { c.execute("PRAGMA cache_size = -1000000"); });  // at most 1 GB
  RunInfo run_info;
  run_info.seed = seed;
  c.write([&] {
    Fields tuning = {{"run_id", insert(c, "run", fields(run_info))},
                     {"device_id", find_or_insert(c, "device", fields(device))},
                     {"environment_id", find_or_insert(c, "environment", fields(Environment{}))},
                     {"protocol", std::string("fake")},
                     {"seed", seed_bits(seed)},
                     {"finished", int64_t{1}},
                     {"problem_id", int64_t{0}}};
    TableWriter problems(c, "problem");
    TableWriter tunings(c, "tuning");
    TableWriter winners(c, "winner");
    CandidateIds candidates(c);
    for (int64_t i = 0; i < count; ++i) {
      const WinnerRecord winner = fake_winner(space, fake_problem(i), random);
      tuning.back().value = problems.find_or_insert(fields(winner.problem));
      winners.insert(winner_row(winner, tunings.insert(tuning), &candidates));
    }
  });
}

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// Writes the winners that a lookup test states, through the store that the tuner uses.
#pragma once

#include <string>
#include <unordered_map>

#include "db/store.h"
#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "policy/default_policy.h"

namespace mla::testing {

inline DeviceInfo mi355x() {
  DeviceInfo device;
  known_device("MI355X", &device);
  return device;
}

inline Problem shape(int32_t batch, int64_t seq_len, int32_t nhead = 12) {
  Problem problem;
  problem.batch = batch;
  problem.seq_len = seq_len;
  problem.nhead = nhead;
  return problem;
}

class TunedDatabase {
 public:
  explicit TunedDatabase(const std::string& path, const DeviceInfo& device = mi355x())
      : store_(db::Store::open(path, db::OpenMode::kReadWrite)),
        device_(device),
        space_(make_space(device)),
        run_id_(store_.begin_run({})) {}

  // A winner that differs from the default in the given knobs: "wait=partial".
  void add_winner(const Problem& problem,
                  const std::string& knobs,
                  double gain = 0.05,
                  double placebo_noise = 0.001) {
    db::WinnerRecord winner = record(problem);
    winner.config = parse_config(knobs, winner.default_config);
    winner.verdict = db::Verdict::kFaster;
    winner.gain = gain;
    winner.placebo_noise = placebo_noise;
    finish(winner);
  }

  // What the default with these knobs lost at a shape that was added before.
  void add_loss(const Problem& problem,
                const std::string& knobs,
                double loss,
                double placebo_noise = 0.001,
                int32_t rounds = 15) {
    db::LossRecord record;
    record.config = parse_config(knobs, policy::DefaultPolicy(space_)(problem));
    record.loss = loss;
    record.rounds = rounds;
    record.placebo_noise = placebo_noise;
    store_.save_losses(tunings_.at(problem), {record});
  }

  // The default is kept, or the shape could not be measured.
  void add_verdict(const Problem& problem, db::Verdict verdict) {
    db::WinnerRecord winner = record(problem);
    winner.verdict = verdict;
    finish(winner);
  }

  void add(const Problem& problem, const std::string& knobs, db::WinnerStatus status) {
    db::WinnerRecord winner = record(problem);
    winner.config = parse_config(knobs, winner.default_config);
    winner.verdict = db::Verdict::kFaster;
    winner.status = status;
    winner.gain = 0.05;
    finish(winner);
  }

 private:
  db::WinnerRecord record(const Problem& problem) const {
    db::WinnerRecord winner;
    winner.problem = problem;
    winner.default_config = policy::DefaultPolicy(space_)(problem);
    winner.config = winner.default_config;
    winner.finalist = winner.default_config;
    winner.rounds = 15;
    winner.wins = 14;
    winner.p_value = 0.001;
    winner.default_us = 105;
    winner.expected_us = 100;
    return winner;
  }

  void finish(const db::WinnerRecord& winner) {
    db::TuningKey key;
    key.device = device_;
    key.problem = winner.problem;
    key.seed = ++seed_;
    const int64_t id = tunings_[winner.problem] = store_.open_tuning(run_id_, key).id;
    store_.finish_tuning(id, winner);
  }

  db::Store store_;
  DeviceInfo device_;
  Space space_;
  int64_t run_id_;
  uint64_t seed_ = 0;
  std::unordered_map<Problem, int64_t> tunings_;  // the newest of each
};

}  // namespace mla::testing

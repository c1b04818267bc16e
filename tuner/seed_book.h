// SPDX-License-Identifier: MIT
// What a session has learnt so far about where small searches should begin: the best configuration
// of every shape, and the times behind the prior.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "db/store.h"
#include "tuner/seeds.h"
#include "tuner/source.h"

namespace mla::tuner {

class SeedBook {
 public:
  explicit SeedBook(const CandidateSource& source) : source_(source) {}

  // Everything of this device.
  void add_stored(const db::Store& store);
  // In place of an earlier one of its shape.
  void add(const db::WinnerRecord& winner);
  // The prior is fitted again whenever half as many times more are known.
  void add(const std::vector<Timing>& timings);

  // Where no shape of the family is known yet, also a sample of the whole space.
  std::vector<KernelConfig> seeds_for(const Problem& problem, uint64_t seed) const;

 private:
  const CandidateSource& source_;
  std::vector<KnownWinner> known_;              // one a shape
  std::unordered_map<Problem, size_t> places_;  // in known_
  std::vector<Timing> timings_;
  size_t fitted_ = 0;  // timings behind the prior
  std::optional<Prior> prior_;
};

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
#include "tuner/seed_book.h"

#include <algorithm>

#include "kernels/shape_key.h"
#include "tuner/search.h"

namespace mla::tuner {
namespace {

constexpr size_t kFamilySample = 34;

}  // namespace

void SeedBook::add_stored(const db::Store& store) {
  const std::string device = device_key(source_.info());
  for (const db::TuningSummary& stored : store.summaries())
    if (device_key(stored.device) == device && stored.winner.problem.seq_len > 0)
      add(stored.winner);
}

void SeedBook::add(const db::WinnerRecord& winner) {
  if (winner.verdict == db::Verdict::kFailed) return;
  const KnownWinner known = {winner.problem, winner.finalist, winner.default_config};
  const auto [place, fresh] = places_.try_emplace(winner.problem, known_.size());
  if (fresh)
    known_.push_back(known);
  else
    known_[place->second] = known;
  const std::vector<Timing> timings = {{winner.problem, winner.default_config, winner.default_us},
                                       {winner.problem, winner.config, winner.expected_us}};
  add(timings);
}

void SeedBook::add(const std::vector<Timing>& timings) {
  for (const Timing& timing : timings)
    if (timing.time_us > 0) timings_.push_back(timing);
  if (2 * timings_.size() < 3 * fitted_) return;
  fitted_ = timings_.size();
  prior_ = Prior::fit(source_.space(), timings_);
}

std::vector<KernelConfig> SeedBook::seeds_for(const Problem& problem, uint64_t seed) const {
  std::vector<KernelConfig> seeds =
      seed_configs(source_.space(), problem, known_, prior_ ? &*prior_ : nullptr, kSmallSeeds);
  const auto of_family = [family = family_key(problem)](const KnownWinner& known) {
    return family_key(known.problem) == family;
  };
  if (std::any_of(known_.begin(), known_.end(), of_family)) return seeds;
  std::vector<KernelConfig> sample = source_.list(problem).configs;
  shuffle(&sample, seed);
  if (sample.size() > kFamilySample) sample.resize(kFamilySample);
  for (const KernelConfig& config : sample)
    if (std::find(seeds.begin(), seeds.end(), config) == seeds.end()) seeds.push_back(config);
  return seeds;
}

}  // namespace mla::tuner

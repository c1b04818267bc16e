// SPDX-License-Identifier: MIT
#include "tuner/prior.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "tuner/stats.h"

namespace mla::tuner {
namespace {

using Terms = std::array<double, Prior::kTerms>;

constexpr size_t kFewestTimings = 3 * Prior::kTerms;
// Reweightings of the squares until they weigh like absolute deviations of the logarithm, by which
// one time that is far off bends nothing.
constexpr int kReweightings = 12;
constexpr double kLeastDeviation = 0.01;
// Coordinate descent on six unknowns: far past the point where anything moves.
constexpr int kSweeps = 2000;
// Spreads below the model that are still taken for a lucky configuration, and the least factor.
constexpr double kSpreads = 4;
constexpr double kLeastFactor = 0.25;
// The median absolute deviation of a normal distribution, as a standard deviation.
constexpr double kMadToDeviation = 1.4826;

Terms terms_of(const Space& space, const Problem& problem, const KernelConfig& config) {
  const ResourceUse use = space.use(problem, config);
  const double units = std::max(1, space.device().compute_units);
  const auto waves = static_cast<double>(use.waves);
  const double longest_rows = static_cast<double>(use.trips) * config.tile_n;
  const auto walks = static_cast<double>(problem.batch * row_groups(problem, config));
  const double read_mb =
      walks * static_cast<double>(problem.seq_len * row_bytes(problem.kv_dtype)) * 1e-6;
  const double merge_waves = std::ceil(static_cast<double>(use.stage2_workgroups) / units);
  return {1,
          waves * longest_rows * 1e-3,
          waves,
          read_mb,
          static_cast<double>(use.workspace_bytes) * 1e-6,
          merge_waves * (1 + static_cast<double>(config.splits) / config.stage2_tiles)};
}

double sum(const Terms& cost, const Terms& terms) {
  double total = 0;
  for (size_t k = 0; k < cost.size(); ++k) total += cost[k] * terms[k];
  return total;
}

std::vector<Timing> fastest_by_splits(const std::vector<Timing>& timings) {
  std::map<std::tuple<std::string, int32_t, Schedule, int32_t>, Timing> fastest;
  for (const Timing& timing : timings) {
    const KernelConfig& config = timing.config;
    const auto key =
        std::tuple(to_text(timing.problem), config.splits, config.schedule, config.group_rows);
    const auto [found, fresh] = fastest.try_emplace(key, timing);
    if (!fresh && timing.time_us < found->second.time_us) found->second = timing;
  }
  std::vector<Timing> result;
  for (const auto& [key, timing] : fastest) result.push_back(timing);
  return result;
}

// The costs, none negative, with the least weighted squares of model / measured - 1.
Terms least_squares(const std::vector<Terms>& rows, const std::vector<double>& weights) {
  std::array<Terms, Prior::kTerms> products{};
  Terms target{}, cost{};
  for (size_t n = 0; n < rows.size(); ++n) {
    const Terms& row = rows[n];
    for (size_t i = 0; i < row.size(); ++i) {
      target[i] += weights[n] * row[i];
      for (size_t k = 0; k < row.size(); ++k) products[i][k] += weights[n] * row[i] * row[k];
    }
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 0; i < cost.size(); ++i) {
      if (products[i][i] <= 0) continue;
      const double others = sum(cost, products[i]) - cost[i] * products[i][i];
      cost[i] = std::max(0.0, (target[i] - others) / products[i][i]);
    }
  }
  return cost;
}

// |log(model / measured)|.
double deviation(const Terms& cost, const Terms& row) {
  return std::abs(std::log(std::max(sum(cost, row), 1e-9)));
}

double weight(const Terms& cost, const Terms& row) {
  const double off = std::max(std::abs(sum(cost, row) - 1), kLeastDeviation);
  return std::max(deviation(cost, row), kLeastDeviation) / (off * off);
}

}  // namespace

std::optional<Prior> Prior::fit(const Space& space, const std::vector<Timing>& timings) {
  const std::vector<Timing> fastest = fastest_by_splits(timings);
  if (fastest.size() < kFewestTimings) return std::nullopt;
  std::vector<Terms> rows;  // of a time of 1
  for (const Timing& timing : fastest) {
    rows.push_back(terms_of(space, timing.problem, timing.config));
    for (double& term : rows.back()) term /= timing.time_us;
  }
  Prior prior;
  std::vector<double> weights(rows.size(), 1);
  for (int i = 0; i < kReweightings; ++i) {
    prior.cost_us_ = least_squares(rows, weights);
    for (size_t n = 0; n < rows.size(); ++n) weights[n] = weight(prior.cost_us_, rows[n]);
  }
  std::vector<double> deviations;
  for (const Terms& row : rows) deviations.push_back(deviation(prior.cost_us_, row));
  prior.spread_ = kMadToDeviation * median(std::move(deviations));
  return prior;
}

double Prior::furthest() const {
  return std::max(kSpreads * spread_, kLeastFactor);
}

double Prior::time_us(const Space& space,
                      const Problem& problem,
                      const KernelConfig& config) const {
  return sum(cost_us_, terms_of(space, problem, config));
}

bool Prior::calls_impossible(const Space& space, const Timing& timing) const {
  const double model_us = time_us(space, timing.problem, timing.config);
  return std::log(model_us / timing.time_us) > furthest();
}

}  // namespace mla::tuner

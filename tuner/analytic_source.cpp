// SPDX-License-Identifier: MIT
#include "tuner/analytic_source.h"

#include <algorithm>
#include <cmath>

#include "kernels/spaces.h"
#include "kernels/workload.h"
#include "policy/default_policy.h"
#include "tuner/noise.h"
#include "tuner/spec_options.h"

namespace mla::tuner {
namespace {

// The formula's costs. Their ratios are those of the recorded MI355X sweeps: a deeper pipeline
// saves a tenth of a long loop and loses below about 35 trips; a split costs a merge pass over its
// partials.
constexpr double kLaunchUs = 4;
constexpr double kWorkgroupUs = 1.5;       // start and epilogue of one stage-1 workgroup
constexpr double kRowUs = 0.02;            // one KV row in the loop
constexpr double kTripUs = 0.15;           // loop overhead of one block
constexpr double kPartialFactor = 0.9;     // of the loop, with copies kept in flight
constexpr double kPartialFillTrips = 3.5;  // what filling the ring costs: 35 trips to break even
constexpr double kMergeUs = 0.02;          // one partial row of 512 in stage 2
constexpr double kMergeTileUs = 0.4;       // scalars that every tile derives again

constexpr double kCopyUs = 100;         // every copy's time
constexpr double kOutlierFactor = 0.8;  // 20 % too fast
constexpr double kDriftRounds = 4;      // the drift falls to 1/e in so many rounds

DeviceInfo analytic_device(const AnalyticOptions& options) {
  DeviceInfo device;
  device.name = "analytic device";
  // Begins like an AMD arch and so has that space; never equal to a real one.
  device.arch = "gfx_analytic";
  device.compute_units = options.compute_units;
  device.xcds = options.xcds;
  device.local_memory_bytes = 160 * 1024;
  return device;
}

// Rounds since the start of a tuning, as far as a SampleId tells.
double elapsed_rounds(const SampleId& id) {
  constexpr double kPhaseRounds = 12, kRungRounds = 3, kRoundSamples = 32;
  return kPhaseRounds * static_cast<double>(id.phase) + kRungRounds * id.rung + id.round +
         id.position / kRoundSamples;
}

double stage1_us(const ResourceUse& use, const KernelConfig& config) {
  const double trip_us = kRowUs * config.tile_n + kTripUs;
  double loop_us = trip_us * static_cast<double>(use.trips);
  if (config.wait == Wait::kPartial)
    loop_us = kPartialFactor * loop_us + kPartialFillTrips * trip_us;
  // Four warps hide less of a short loop than eight do of a long one.
  const double warp_factor = config.stage1_warps == 8 ? 1.01 : 1.0;
  const double stage_factor = 1 + 0.002 * std::abs(config.stages - 3);
  return static_cast<double>(use.waves) * (kWorkgroupUs + loop_us * warp_factor * stage_factor);
}

double stage2_us(const ResourceUse& use, const KernelConfig& config, int32_t compute_units) {
  if (use.stage2_workgroups == 0) return 0;
  const double waves = std::ceil(static_cast<double>(use.stage2_workgroups) / compute_units);
  const double merge_us = kMergeUs * config.splits / config.stage2_tiles;
  const double warp_factor = 1 + 0.05 * std::abs(std::log2(config.stage2_warps / 4.0));
  return waves * (kMergeTileUs + merge_us * warp_factor);
}

}  // namespace

AnalyticSource::AnalyticSource(const AnalyticOptions& options)
    : options_(options), space_(make_space(analytic_device(options))) {}

db::Environment AnalyticSource::environment() const {
  db::Environment environment;
  environment.runtime = "formula";
  return environment;
}

Space::Listing AnalyticSource::list(const Problem& problem) const {
  if (options_.copies == 0) return space_.list(problem);
  Space::Listing listing;
  const KernelConfig reference = policy::DefaultPolicy(space_)(problem);
  KernelConfig copy = reference;
  for (copy.splits = 1; static_cast<int32_t>(listing.configs.size()) < options_.copies;
       ++copy.splits)
    if (copy != reference) listing.configs.push_back(copy);
  return listing;
}

std::optional<KernelConfig> AnalyticSource::faster_copy(const Problem& problem) const {
  if (options_.copies == 0 || options_.faster == 0) return std::nullopt;
  const auto copies = static_cast<uint64_t>(options_.copies);
  return list(problem).configs[mix64(options_.seed) % copies];
}

Outcome AnalyticSource::select(const Problem& problem, uint64_t) {
  problem_ = problem;
  faster_ = faster_copy(problem);
  return {};
}

Outcome AnalyticSource::admit(const KernelConfig& config, bool) {
  if (const auto violation = space_.violation(problem_, config))
    return {OutcomeKind::kOverLimits, *violation};
  return {};
}

double AnalyticSource::true_time_us(const Problem& problem, const KernelConfig& config) const {
  return time_us_of(problem, config, faster_copy(problem));
}

double AnalyticSource::time_us_of(const Problem& problem,
                                  const KernelConfig& config,
                                  const std::optional<KernelConfig>& faster) const {
  if (options_.copies > 0) return faster == config ? kCopyUs / (1 + options_.faster) : kCopyUs;
  const ResourceUse use = space_.use(problem, config);
  return kLaunchUs + stage1_us(use, config) + stage2_us(use, config, options_.compute_units);
}

TimedRun AnalyticSource::sample(const KernelConfig& config, const SampleId& id) {
  double time_us = time_us_of(problem_, config, faster_);
  SampleNoise noise(options_.seed, problem_, config, id);
  time_us *= 1 + options_.drift * std::exp(-elapsed_rounds(id) / kDriftRounds);
  time_us *= std::max(0.01, 1 + options_.noise * noise.normal());
  if (noise.uniform() < options_.outliers) time_us *= kOutlierFactor;
  return {{}, time_us};
}

std::unique_ptr<CandidateSource> open_analytic_source(const std::string& spec) {
  SpecOptions given("analytic", spec);
  AnalyticOptions options;
  options.compute_units = static_cast<int32_t>(given.integer("cus", 256, 1, 4096));
  options.xcds = static_cast<int32_t>(given.integer("xcds", 8, 1, 64));
  options.noise = given.fraction("noise", options.noise);
  options.drift = given.fraction("drift", options.drift);
  options.outliers = given.fraction("outliers", options.outliers);
  options.copies = static_cast<int32_t>(given.integer("copies", 0, 0, 512));
  options.faster = given.fraction("faster", options.faster);
  options.seed = given.seed(options.seed);
  given.finish();
  return std::make_unique<AnalyticSource>(options);
}

}  // namespace mla::tuner

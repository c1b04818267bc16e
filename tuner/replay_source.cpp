// SPDX-License-Identifier: MIT
#include "tuner/replay_source.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tuner/noise.h"
#include "tuner/spec_options.h"

namespace mla::tuner {
namespace {

std::vector<int32_t> merged(std::vector<int32_t> values, const std::vector<int32_t>& more) {
  values.insert(values.end(), more.begin(), more.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Knobs of the default that are no levers.
constexpr Knob kBaselineKnobs[] = {
    Knob::kTileN, Knob::kStages, Knob::kStage1Warps, Knob::kSchedule, Knob::kGroupRows};

bool searched(const std::vector<KnobRange>& ranges, const KernelConfig& config) {
  return std::all_of(ranges.begin(), ranges.end(), [&](const KnobRange& range) {
    return std::binary_search(range.search.begin(), range.search.end(), get(config, range.knob));
  });
}

bool is_baseline(const Recording& recording, const KernelConfig& config) {
  return std::all_of(std::begin(kBaselineKnobs), std::end(kBaselineKnobs), [&](Knob knob) {
    return !recording.has_knob(knob) || get(*recording.baseline(), knob) == get(config, knob);
  });
}

// Whether the default of the recording is one that is answered today.
bool as_today(const Recording& recording, const Space& device_space) {
  if (!recording.baseline() || is_baseline(recording, device_space.neutral())) return true;
  const std::vector<DefaultCosts::Kernel>& kernels = device_space.costs().kernels;
  return std::any_of(kernels.begin(), kernels.end(), [&](const DefaultCosts::Kernel& kernel) {
    return is_baseline(recording, kernel.config);
  });
}

std::vector<KnobRange> recorded_ranges(const Recording& recording,
                                       const Space& device_space,
                                       bool old_baseline) {
  std::vector<KnobRange> ranges = device_space.ranges();
  for (KnobRange& range : ranges) {
    const bool of_baseline =
        std::find(std::begin(kBaselineKnobs), std::end(kBaselineKnobs), range.knob) !=
        std::end(kBaselineKnobs);
    if (old_baseline && of_baseline && recording.has_knob(range.knob))
      range.neutral = get(*recording.baseline(), range.knob);
    const std::vector<int32_t> neutral = {range.neutral};
    const std::vector<int32_t> recorded =
        recording.has_knob(range.knob) ? recording.values(range.knob) : neutral;
    range.search = merged(recorded, neutral);
    range.legal = merged(range.legal, recorded);
    range.note = recording.has_knob(range.knob) ? "the recorded values" : "not in the recording";
  }
  return ranges;
}

// The device's own space, searched over the recorded values only. Its default is that of the time
// of the recording, which has no times of a later one.
Space recorded_space(const Recording& recording) {
  const Space device_space = make_space(recording.device);
  const bool today = as_today(recording, device_space);
  std::vector<KnobRange> ranges = recorded_ranges(recording, device_space, !today);
  if (!today) return Space(recording.device, std::move(ranges), device_space.constraints());
  std::vector<KernelConfig> wide;
  for (const KernelConfig& config : device_space.wide_neutral()) {
    if (searched(ranges, config)) wide.push_back(config);
  }
  std::optional<KernelConfig> fp8 = device_space.neutral(KvDtype::kFp8);
  if (!searched(ranges, *fp8)) fp8.reset();
  DefaultCosts costs = device_space.costs();
  std::erase_if(costs.kernels, [&](const DefaultCosts::Kernel& kernel) {
    return !searched(ranges, kernel.config);
  });
  return Space(recording.device,
               std::move(ranges),
               device_space.constraints(),
               std::move(wide),
               fp8,
               std::move(costs));
}

}  // namespace

ReplaySource::ReplaySource(Recording recording, std::optional<double> noise, uint64_t seed)
    : recording_(std::move(recording)),
      noise_(noise),
      seed_(seed),
      space_(recorded_space(recording_)) {}

Space::Listing ReplaySource::list(const Problem& problem) const {
  Space::Listing listing = space_.list(problem);
  const auto unrecorded = [&](const KernelConfig& config) {
    return recording_.find(problem, config) == nullptr;
  };
  const size_t removed = std::erase_if(listing.configs, unrecorded);
  if (removed > 0) listing.pruned["not_recorded"] += static_cast<int64_t>(removed);
  return listing;
}

Outcome ReplaySource::select(const Problem& problem, uint64_t) {
  problem_ = problem;
  group_splits_ = 0;
  if (recording_.holds(problem)) return {};
  return {OutcomeKind::kNotRecorded, "no recorded time of " + to_text(problem)};
}

Outcome ReplaySource::admit(const KernelConfig& config, bool first) {
  const RecordedConfig* row = recording_.find(problem_, config);
  if (row == nullptr) return {OutcomeKind::kNotRecorded, "no recorded time for " + to_text(config)};
  if (!row->outcome.ok()) return row->outcome;
  if (!recording_.grouped_by_splits) return {};
  if (first) group_splits_ = config.splits;
  if (group_splits_ == 0 || group_splits_ == config.splits) return {};
  return {OutcomeKind::kNotRecorded,
          "recorded times compare only within one split count, here splits=" +
              std::to_string(group_splits_)};
}

TimedRun ReplaySource::sample(const KernelConfig& config, const SampleId& id) {
  TimedRun sample;
  sample.outcome = admit(config, false);
  if (!sample.outcome.ok()) return sample;
  const RecordedConfig& row = *recording_.find(problem_, config);
  const double own_spread = row.spread > 0 ? row.spread : kReplayNoise;
  SampleNoise noise(seed_, problem_, config, id);
  const double time_us = row.times_us[noise.index(row.times_us.size())];
  // Far tails must not turn a time negative, whatever noise was asked for.
  sample.time_us = time_us * std::max(0.01, 1 + noise_.value_or(own_spread) * noise.normal());
  return sample;
}

std::unique_ptr<CandidateSource> open_replay_source(const std::string& spec) {
  const size_t comma = spec.find(',');
  const std::string path = spec.substr(0, comma);
  if (path.empty())
    throw Error(ErrorCode::kUsage, "device replay: names no file; the form is replay:FILE");
  SpecOptions options(
      "replay",
      comma == std::string::npos ? std::string_view() : std::string_view(spec).substr(comma + 1));
  const bool own_spread = !options.has("noise");
  const double noise = options.fraction("noise", kReplayNoise);
  const uint64_t seed = options.seed(1);
  DeviceHint hint;
  hint.compute_units = static_cast<int32_t>(options.integer("cus", 0, 1, 1 << 20));
  hint.xcds = static_cast<int32_t>(options.integer("xcds", 0, 1, 1 << 10));
  options.finish();
  return std::make_unique<ReplaySource>(
      load_recording(path, hint), own_spread ? std::nullopt : std::optional(noise), seed);
}

}  // namespace mla::tuner

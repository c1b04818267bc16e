// SPDX-License-Identifier: MIT
#include "tuner/seeds.h"

#include <algorithm>
#include <cmath>

#include "kernels/shape_key.h"
#include "policy/carried.h"
#include "policy/default_policy.h"
#include "policy/wave_edge.h"

namespace mla::tuner {
namespace {

// Winners asked for seeds: those of the grid neighbours in batch, length, heads and query
// positions.
constexpr size_t kNeighbours = 6;
// Split counts that the prior adds to one configuration.
constexpr size_t kPriorSplits = 3;

int32_t searched_splits(const Space& space, int64_t most) {
  return policy::lowered_to(space.range(Knob::kSplits).search, most);
}

double octaves(double a, double b) {
  return std::abs(std::log2(a / b));
}

// Steps of a grid that doubles.
double distance(const Problem& a, const Problem& b) {
  return octaves(a.batch, b.batch) +
         octaves(static_cast<double>(a.seq_len), static_cast<double>(b.seq_len)) +
         octaves(a.nhead, b.nhead) + octaves(a.q_len, b.q_len) +
         (a.page_size == b.page_size ? 0 : 0.5) + (a.kv_dtype == b.kv_dtype ? 0 : 2) +
         2 * std::abs(sharing_class(a) - sharing_class(b)) + octaves(a.imbalance, b.imbalance);
}

std::vector<const KnownWinner*> nearest(const Problem& problem,
                                        const std::vector<KnownWinner>& known) {
  std::vector<std::pair<double, const KnownWinner*>> order;
  for (const KnownWinner& winner : known) {
    order.push_back({distance(problem, winner.problem), &winner});
  }
  const size_t count = std::min(order.size(), kNeighbours);
  const auto closer = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  };
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), closer);
  std::vector<const KnownWinner*> result;
  for (size_t i = 0; i < count; ++i) result.push_back(order[i].second);
  return result;
}

// Legal configurations, each once in effect.
class Collection {
 public:
  Collection(const Space& space, const Problem& problem)
      : space_(space), problem_(problem), most_group_rows_(space.filled_group_rows(problem)) {}

  void add(KernelConfig config) {
    make_distinct(&config);
    if (config.group_rows > most_group_rows_ || !space_.allows(problem_, config)) return;
    if (std::find(configs_.begin(), configs_.end(), config) == configs_.end())
      configs_.push_back(config);
  }

  std::vector<KernelConfig> take() { return std::move(configs_); }

 private:
  // Split counts above the block count run as that many, and without splits there is no stage 2.
  void make_distinct(KernelConfig* config) const {
    const int64_t blocks = std::max<int64_t>(1, block_count(problem_.seq_len, config->tile_n));
    if (config->splits > blocks) config->splits = searched_splits(space_, blocks);
    if (config->splits > 1) return;
    config->stage2_tiles = space_.range(Knob::kStage2Tiles).neutral;
    config->stage2_warps = space_.range(Knob::kStage2Warps).neutral;
  }

  const Space& space_;
  const Problem& problem_;
  const int32_t most_group_rows_;
  std::vector<KernelConfig> configs_;
};

// The neutral configuration of another number of group rows, which may have another kernel, with
// the stage 2 of `base` and as many workgroups.
KernelConfig with_group_rows(const Space& space,
                             const Problem& problem,
                             const KernelConfig& base,
                             int32_t group_rows) {
  KernelConfig config = space.neutral(group_rows);
  config.stage2_tiles = base.stage2_tiles;
  config.stage2_warps = base.stage2_warps;
  const int64_t workgroups = base.splits * policy::unsplit_workgroups(problem, base);
  config.splits = searched_splits(
      space, workgroups / std::max<int64_t>(1, policy::unsplit_workgroups(problem, config)));
  return config;
}

void add_prior_splits(const Space& space,
                      const Problem& problem,
                      const Prior& prior,
                      KernelConfig base,
                      Collection* seeds) {
  std::vector<std::pair<double, int32_t>> order;
  for (const int32_t splits : space.range(Knob::kSplits).search) {
    base.splits = splits;
    if (space.allows(problem, base)) order.push_back({prior.time_us(space, problem, base), splits});
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < std::min(order.size(), kPriorSplits); ++i) {
    base.splits = order[i].second;
    seeds->add(base);
  }
}

// As many workgroups as the device runs at once, or in two waves.
void add_full_waves(const Space& space,
                    const Problem& problem,
                    KernelConfig base,
                    Collection* seeds) {
  const int64_t unsplit = std::max<int64_t>(1, policy::unsplit_workgroups(problem, base));
  for (const int64_t waves : {1, 2}) {
    base.splits = searched_splits(space, waves * space.device().compute_units / unsplit);
    seeds->add(base);
  }
}

}  // namespace

std::vector<KernelConfig> seed_configs(const Space& space,
                                       const Problem& problem,
                                       const std::vector<KnownWinner>& known,
                                       const Prior* prior,
                                       size_t most) {
  const KernelConfig default_config = policy::DefaultPolicy(space)(problem);
  Collection seeds(space, problem);
  const std::vector<const KnownWinner*> neighbours = nearest(problem, known);
  for (const KnownWinner* winner : neighbours) {
    for (const KernelConfig& form :
         policy::carried(winner->config, winner->default_config, winner->problem)) {
      seeds.add(policy::at_shape(form, default_config, problem));
    }
  }
  seeds.add(policy::all_levers(space, problem));
  const KernelConfig base = neighbours.empty() ? default_config : neighbours.front()->config;
  if (prior != nullptr) add_prior_splits(space, problem, *prior, base, &seeds);
  add_full_waves(space, problem, base, &seeds);
  for (const int32_t group_rows : space.range(Knob::kGroupRows).search)
    seeds.add(with_group_rows(space, problem, base, group_rows));
  std::vector<KernelConfig> configs = seeds.take();
  if (configs.size() > most) configs.resize(most);
  return configs;
}

std::vector<KernelConfig> near_configs(const Space& space,
                                       const Problem& problem,
                                       const KernelConfig& center) {
  Collection near(space, problem);
  for (const KnobRange& range : space.ranges()) {
    const int32_t value = get(center, range.knob);
    const auto above = std::upper_bound(range.search.begin(), range.search.end(), value);
    const auto at = std::lower_bound(range.search.begin(), range.search.end(), value);
    KernelConfig config = center;
    const auto add = [&](int32_t other) {
      set(&config, range.knob, other);
      near.add(range.knob == Knob::kGroupRows ? with_group_rows(space, problem, center, other)
                                              : config);
    };
    if (above != range.search.end()) add(*above);
    if (at != range.search.begin()) add(*(at - 1));
  }
  std::vector<KernelConfig> configs = near.take();
  std::erase(configs, center);
  return configs;
}

}  // namespace mla::tuner

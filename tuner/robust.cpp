// SPDX-License-Identifier: MIT
#include "tuner/robust.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

#include "kernels/text.h"
#include "policy/selection.h"

namespace mla::tuner {
namespace {

// Worst cases that differ by less than this are decided by the mean.
constexpr double kRegretStep = 0.001;

constexpr std::string_view kLengthsMark = " lengths={";

constexpr double kUnusable = std::numeric_limits<double>::infinity();

// Time over the default's time; infinite where it could not be measured or was too noisy, and
// nothing where nobody has tried.
std::optional<double> time_ratio(const RobustPoint& at,
                                 const KernelConfig& config,
                                 const Space& space) {
  if (config == at.point.default_config) return 1.0;
  if (at.point.wins && config == at.point.config) return 1 / (1 + at.point.gain);
  for (const db::LossRecord& loss : at.losses) {
    if (loss.config != config) continue;
    return decided(loss, policy::kLossBound) ? 1 + loss.loss : kUnusable;
  }
  if (space.violation(at.point.problem, config)) return kUnusable;
  return std::nullopt;
}

bool has_times(const RobustPoint& at, const KernelConfig& config) {
  return std::any_of(at.losses.begin(), at.losses.end(), [&](const db::LossRecord& loss) {
    return loss.config == config && loss.rounds > 0;
  });
}

struct Candidate {
  RobustChoice choice;
  std::vector<double> ratios;  // by length
};

// `best`: the least ratio at each length; `usual`: those of the default.
void judge(const std::vector<double>& best,
           const std::vector<double>& usual,
           const std::vector<LengthShare>& lengths,
           Candidate* candidate) {
  RobustChoice& choice = candidate->choice;
  choice.worst_gain = std::numeric_limits<double>::max();
  choice.best_gain = -1;
  double log_mean = 0, shares = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const double ratio = candidate->ratios[i];
    const double gain = usual[i] / ratio - 1;
    choice.worst_regret = std::max(choice.worst_regret, ratio / best[i] - 1);
    choice.worst_gain = std::min(choice.worst_gain, gain);
    choice.best_gain = std::max(choice.best_gain, gain);
    log_mean += lengths[i].share * std::log1p(gain);
    shares += lengths[i].share;
  }
  choice.mean_gain = std::expm1(log_mean / shares);
}

bool better(const RobustChoice& a, const RobustChoice& b) {
  if (std::abs(a.worst_regret - b.worst_regret) > kRegretStep)
    return a.worst_regret < b.worst_regret;
  return a.mean_gain > b.mean_gain;
}

}  // namespace

std::vector<LengthShare> default_lengths() {
  std::vector<LengthShare> lengths;
  for (int64_t seq_len = 1024; seq_len <= 131072; seq_len *= 2) lengths.push_back({seq_len, 1});
  return lengths;
}

std::string lengths_text(const std::vector<LengthShare>& lengths) {
  std::string text;
  for (const LengthShare& length : lengths) {
    char share[32];
    std::snprintf(share, sizeof share, "%.6g", length.share);
    if (!text.empty()) text += ' ';
    text += std::to_string(length.seq_len);
    text += ':';
    text += share;
  }
  return text;
}

std::string plan_protocol(const std::vector<LengthShare>& lengths) {
  return std::string(kLengthsMark) + lengths_text(lengths) + "}";
}

std::vector<LengthShare> plan_lengths(std::string_view protocol) {
  std::vector<LengthShare> lengths;
  const size_t mark = protocol.find(kLengthsMark);
  if (mark == std::string_view::npos) return lengths;
  std::string_view rest = protocol.substr(mark + kLengthsMark.size());
  rest = rest.substr(0, rest.find('}'));
  for (std::string_view word = next_word(&rest); !word.empty(); word = next_word(&rest)) {
    const size_t colon = word.find(':');
    LengthShare length;
    if (colon == std::string_view::npos || !parse_int(word.substr(0, colon), &length.seq_len) ||
        length.seq_len < 1 || length.seq_len > kMaxSeqLen) {
      return {};
    }
    length.share = std::strtod(std::string(word.substr(colon + 1)).c_str(), nullptr);
    lengths.push_back(length);
  }
  return lengths;
}

std::vector<LengthGroup> length_groups(const std::vector<CrossPoint>& points,
                                       const std::vector<LengthShare>& lengths) {
  std::map<std::pair<ShapeKey, int32_t>, std::map<int64_t, size_t>> batches;
  for (size_t i = 0; i < points.size(); ++i) {
    const Problem& problem = points[i].problem;
    if (points[i].usable && points[i].here)
      batches[{family_key(problem), problem.batch}][problem.seq_len] = i;
  }
  std::vector<LengthGroup> groups;
  for (const auto& [key, by_length] : batches) {
    LengthGroup group;
    for (const LengthShare& length : lengths) {
      const auto found = by_length.find(length.seq_len);
      if (found != by_length.end()) group.push_back(found->second);
    }
    if (!group.empty() && group.size() == lengths.size()) groups.push_back(std::move(group));
  }
  return groups;
}

std::optional<RobustChoice> choose_robust(const std::vector<RobustPoint>& group,
                                          const std::vector<LengthShare>& lengths,
                                          const Space& space) {
  std::vector<CrossPoint> points;
  for (const RobustPoint& at : group) points.push_back(at.point);
  std::vector<Candidate> candidates;
  std::vector<double> best(group.size(), 1);  // each length's own default
  for (const KernelConfig& config : plan_candidates(points, space)) {
    Candidate candidate;
    candidate.choice.config = config;
    for (size_t i = 0; i < group.size(); ++i) {
      const std::optional<double> ratio = time_ratio(group[i], config, space);
      if (!ratio) return std::nullopt;
      candidate.ratios.push_back(*ratio);
      best[i] = std::min(best[i], *ratio);
    }
    candidates.push_back(std::move(candidate));
  }
  const KernelConfig default_config = candidates.front().choice.config;
  for (size_t i = 0; i < group.size(); ++i) {
    double& ratio = candidates.front().ratios[i];
    if (ratio != kUnusable) continue;
    if (!has_times(group[i], default_config)) return std::nullopt;
    ratio = 1;  // noise: the length's own default stands for it
  }
  const std::vector<double> usual = candidates.front().ratios;
  const auto holds = [](double ratio, double of_default) {
    return ratio <= of_default * (1 + policy::kLossBound);
  };
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return !std::equal(candidate.ratios.begin(), candidate.ratios.end(), usual.begin(), holds);
  });
  for (Candidate& candidate : candidates) {
    candidate.choice.default_config = default_config;
    judge(best, usual, lengths, &candidate);
  }
  return std::min_element(
             candidates.begin(),
             candidates.end(),
             [](const Candidate& a, const Candidate& b) { return better(a.choice, b.choice); })
      ->choice;
}

db::WinnerRecord robust_winner(const Problem& problem, const RobustChoice& choice) {
  db::WinnerRecord winner;
  winner.problem = problem;
  winner.problem.seq_len = 0;
  winner.default_config = choice.default_config;
  winner.config = winner.finalist = choice.config;
  const bool wins = choice.config != choice.default_config;
  winner.verdict = wins ? db::Verdict::kFaster : db::Verdict::kDefaultBest;
  winner.gain = winner.finalist_gain = choice.worst_gain;
  winner.gain_low = choice.worst_gain;
  winner.gain_high = choice.best_gain;
  return winner;
}

}  // namespace mla::tuner

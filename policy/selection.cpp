// SPDX-License-Identifier: MIT
#include "policy/selection.h"

#include <algorithm>

#include "policy/carried.h"

namespace mla::policy {
namespace {

Ruling ruling(const Corner& corner) {
  return static_cast<Ruling>(corner.entry.ruling);
}

Refusal unusable(const Corner& corner) {
  switch (ruling(corner)) {
    case Ruling::kWinner:
    case Ruling::kDefaultBest:
    case Ruling::kUndecided:
      return corner.carries ? Refusal::kNone : Refusal::kNoAnswer;
    case Ruling::kVerifyAgain:
      return Refusal::kStale;
    case Ruling::kDemoted:
    case Ruling::kFailed:
    case Ruling::kDisagree:
      break;
  }
  return Refusal::kNoAnswer;
}

// The corner's winner in its carried forms.
std::vector<uint64_t> carried_configs(const Corner& corner) {
  std::vector<uint64_t> forms;
  for (const KernelConfig& form : carried(unpack_config(corner.entry.config),
                                          unpack_config(corner.default_config),
                                          corner.problem)) {
    uint64_t packed = 0;  // the knobs of an entry fit
    pack_config(form, &packed);
    forms.push_back(packed);
  }
  return forms;
}

uint64_t config_at(const Corner& corner, uint64_t carried_config) {
  uint64_t packed = 0;
  pack_config(
      at_shape(unpack_config(carried_config), unpack_config(corner.default_config), corner.problem),
      &packed);
  return packed;
}

// The loss of `config` at a corner into `loss`, or why it is not known to be within the bound.
Refusal loss_at(const Corner& corner, uint64_t config, float* loss) {
  *loss = 0;
  if (config == corner.default_config) return Refusal::kNone;
  if (ruling(corner) == Ruling::kWinner && config == corner.entry.config) {
    *loss = 1 / (1 + corner.entry.gain) - 1;
    return corner.entry.gain > corner.error ? Refusal::kNone : Refusal::kNoisy;
  }
  for (const KnownLoss& known : corner.losses) {
    if (known.config != config) continue;
    *loss = known.loss;
    if (!above_noise(known.loss, known.error, kCarriedLossBound)) return Refusal::kNoisy;
    return known.loss <= kCarriedLossBound ? Refusal::kNone : Refusal::kLoses;
  }
  return Refusal::kNotMeasured;
}

// The winner in its carried form as a candidate of the cell, or why it is none.
Refusal consider(const ShapeEntry& winner,
                 uint64_t config,
                 const std::vector<Corner>& corners,
                 ShapeEntry* candidate) {
  *candidate = winner;
  candidate->config = config;
  float worst = -1;
  Refusal refusal = Refusal::kNone;
  for (const Corner& corner : corners) {
    float loss = 0;
    const Refusal why = loss_at(corner, config_at(corner, config), &loss);
    if (why != Refusal::kNone && (refusal == Refusal::kNone || why < refusal)) refusal = why;
    worst = std::max(worst, loss);
  }
  candidate->key = kNoKey;
  candidate->gain = 1 / (1 + worst) - 1;
  candidate->expected_us = 0;
  if (refusal == Refusal::kNone && candidate->gain < kLeastCarriedGain) return Refusal::kSmallGain;
  return refusal;
}

}  // namespace

Selection select_between(const std::vector<Corner>& corners) {
  Selection selection;
  const auto refuse = [&selection](Refusal why) {
    if (selection.refusal == Refusal::kNone || why < selection.refusal) selection.refusal = why;
  };
  bool any_winner = false;
  for (const Corner& corner : corners) {
    if (const Refusal why = unusable(corner); why != Refusal::kNone) refuse(why);
    any_winner = any_winner || ruling(corner) == Ruling::kWinner;
  }
  if (selection.refusal != Refusal::kNone) return selection;
  if (!any_winner) {
    ShapeEntry& keep_default = selection.candidates.emplace_back(corners.front().entry);
    keep_default.key = kNoKey;
    keep_default.expected_us = 0;
    keep_default.ruling = static_cast<uint64_t>(Ruling::kDefaultBest);
    return selection;
  }
  for (const Corner& corner : corners) {
    if (ruling(corner) != Ruling::kWinner) continue;
    for (const uint64_t config : carried_configs(corner)) {
      const bool considered = std::any_of(
          selection.candidates.begin(), selection.candidates.end(), [&](const ShapeEntry& entry) {
            return entry.config == config;
          });
      if (considered) continue;
      ShapeEntry candidate;
      const Refusal why = consider(corner.entry, config, corners, &candidate);
      if (why == Refusal::kNone) {
        selection.candidates.push_back(candidate);
      } else {
        refuse(why);
      }
    }
  }
  std::stable_sort(selection.candidates.begin(),
                   selection.candidates.end(),
                   [](const ShapeEntry& a, const ShapeEntry& b) { return a.gain > b.gain; });
  if (!selection.candidates.empty()) selection.refusal = Refusal::kNone;
  return selection;
}

}  // namespace mla::policy

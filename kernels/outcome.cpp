// SPDX-License-Identifier: MIT
#include "kernels/outcome.h"

#include <array>

namespace mla {
namespace {

constexpr std::array<std::string_view, 12> kNames = {"ok",
                                                     "slow",
                                                     "wrong",
                                                     "nonfinite",
                                                     "fault",
                                                     "hang",
                                                     "out_of_memory",
                                                     "launch_failed",
                                                     "over_limits",
                                                     "not_capturable",
                                                     "not_recorded",
                                                     "quarantined"};

}  // namespace

std::string_view name(OutcomeKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

bool parse_outcome_kind(std::string_view text, OutcomeKind* kind) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] != text) continue;
    *kind = static_cast<OutcomeKind>(i);
    return true;
  }
  return false;
}

}  // namespace mla

// SPDX-License-Identifier: MIT
#include "policy/override.h"

#include <algorithm>

#include "kernels/error.h"

namespace mla::policy {
namespace {

// Row groups at which the deterministic splits fill the device once.
constexpr int32_t kDeterministicGroups = 8;

int32_t largest_at_most(const std::vector<int32_t>& ascending, int32_t value) {
  const auto above = std::upper_bound(ascending.begin(), ascending.end(), value);
  return above == ascending.begin() ? ascending.front() : *(above - 1);
}

void require_legal(const KnobRange& range, int32_t value) {
  if (std::binary_search(range.legal.begin(), range.legal.end(), value)) return;
  throw Error(ErrorCode::kUsage,
              std::string(name(range.knob)) + "=" + value_text(range.knob, value) +
                  " is legal for no shape of this device");
}

}  // namespace

void Override::hold(Knob knob, int32_t value) {
  set(&values_, knob, value);
  held_[static_cast<size_t>(knob)] = true;
}

Override Override::off() {
  return Override("lookups are switched off", "lookups are switched off");
}

Override Override::pin(const std::string& knobs, const Space& space) {
  // A knob is named where the text decides it whatever it is read on top of.
  KernelConfig other;
  for (const Knob knob : kKnobs) set(&other, knob, -1);
  const KernelConfig a = parse_config(knobs);
  const KernelConfig b = parse_config(knobs, other);
  Override pinned("pinned:", "pinned");
  for (const Knob knob : kKnobs) {
    const int32_t value = get(a, knob);
    if (value != get(b, knob)) continue;
    require_legal(space.range(knob), value);
    pinned.hold(knob, value);
    pinned.text_.append(" ").append(name(knob)).append("=").append(value_text(knob, value));
  }
  return pinned;
}

Override Override::deterministic(const Space& space) {
  const int32_t splits = largest_at_most(space.range(Knob::kSplits).legal,
                                         space.device().compute_units / kDeterministicGroups);
  Override fixed("deterministic", "deterministic: the splits do not depend on the batch");
  fixed.hold(Knob::kSplits, splits);
  fixed.any_length_ = true;
  return fixed;
}

Answer Override::answer(const Problem& problem, const LookupTable& defaults) const noexcept {
  Answer answer = defaults.default_answer(problem, Source::kDisabled, reason_);
  if (!answer.shape_in_range) return answer;
  KernelConfig config = answer.config;
  if (any_length_) {  // by the work, the default would take another kernel beside more requests
    Problem unknown = problem;
    unknown.seq_len = 0;
    config = defaults.default_policy().without_costs(unknown);
  }
  for (const Knob knob : kKnobs) {
    if (held_[static_cast<size_t>(knob)]) set(&config, knob, get(values_, knob));
  }
  Problem longest = problem;
  if (problem.seq_len == 0) longest.seq_len = kMaxSeqLen;
  if (defaults.space().allows(longest, config)) {
    answer.config = config;
  } else {
    answer.reason = "the pinned configuration is not legal for this shape";
  }
  return answer;
}

int32_t Override::splits() const {
  return held_[static_cast<size_t>(Knob::kSplits)] ? values_.splits : 0;
}

}  // namespace mla::policy

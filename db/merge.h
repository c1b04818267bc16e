// SPDX-License-Identifier: MIT
// Brings the evidence of several databases together.
#pragma once

#include <cstdint>
#include <string>

namespace mla::db {

struct Merged {
  int64_t tunings_added = 0;
  int64_t tunings_known = 0;  // the target held them already, with the same evidence
  // Shapes that both had answered:
  int64_t pooled = 0;    // the same finalist: its rounds count together
  int64_t agreed = 0;    // other finalists, one answer: the one with more rounds is current
  int64_t disagree = 0;  // the target's answer stays and is marked to be verified again
};

// Adds everything that `source` holds to `target` (created where it is missing) in one transaction:
// tunings with their rounds, samples, outcomes, losses and winners. `source` stays as it is. A
// tuning whose key the target holds with other evidence is added under a protocol that names the
// source. No answer ever wins by a lower time: answers of one shape are pooled by a sign test over
// the rounds of both where they measured the same finalist against the same default in the same
// environment and neither counts rounds of the other, and otherwise both are kept; where the source
// has the target's answer and a later one, the later one is the answer. Throws Error(kDatabase),
// and the target stays too.
Merged merge(const std::string& source, const std::string& target);

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// Whether stored winners still beat the default on this machine: each is timed against it in fresh
// paired rounds. What no longer holds is demoted in the user's own database, which hides the row
// below it; the shipped file stays as it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "db/store.h"
#include "tools/paired_compare.h"
#include "tools/term.h"

namespace mla::tools {

struct StoredWinner {
  std::string database;
  db::TuningSummary summary;
  bool stale = false;       // measured in another environment, or marked
  bool impossible = false;  // its time, by the physics model of all stored times
};

// The winners that lookups on `device` answer with, those that take longest first and plans for
// unknown lengths last. Of one shape the last database's row counts. Throws Error(kDatabase) for a
// file that cannot be read.
std::vector<StoredWinner> current_winners(const std::vector<std::string>& databases,
                                          const DeviceInfo& device,
                                          const db::Environment& environment);

// Names reach JSON.
enum class VerifyState {
  kHeld,       // faster than the default by the guard's test, again
  kLost,       // no faster by the median, or cannot be run: to be demoted
  kAmbiguous,  // faster by the median, not by the test
  kUnmeasured  // the default could not be measured, or the time ended
};
std::string_view name(VerifyState state);

struct VerifiedWinner {
  StoredWinner stored;
  VerifyState state = VerifyState::kUnmeasured;
  std::string text;       // why, where rounds do not say it
  Comparison comparison;  // default first, then the winner
};

// A plan for unknown lengths is timed at each of its lengths: it is lost where the default is
// faster at any of them, and the comparison is the one at its worst.
VerifiedWinner verify_winner(tuner::CandidateSource& source,
                             const StoredWinner& stored,
                             const CompareOptions& options,
                             const std::atomic<bool>& stop);

// Stores what the check changes, with its rounds: a demotion, or a fresh row in place of a stale
// one that held. True where something was stored.
bool keep(const VerifiedWinner& verified,
          const tuner::CandidateSource& source,
          db::Store* store,
          int64_t run_id);

std::string verify_text(const std::vector<VerifiedWinner>& winners, const Terminal& terminal);
std::string verify_json(const std::vector<VerifiedWinner>& winners,
                        const DeviceInfo& device,
                        const std::string& database);

}  // namespace mla::tools

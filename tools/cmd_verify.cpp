// SPDX-License-Identifier: MIT
// `mla-tune verify`: stored winners against the default on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/paths.h"
#include "tools/run_info.h"
#include "tools/run_result.h"
#include "tools/signals.h"
#include "tools/target.h"
#include "tools/verify.h"
#include "tuner/sources.h"

namespace mla::tools {
namespace {

// Rounds of a final have rung 0.
constexpr int32_t kFreshRung = 1;

// The user's own file may not be there yet.
std::vector<StoredWinner> chosen_winners(const Options& options,
                                         std::vector<std::string> databases,
                                         const tuner::CandidateSource& source) {
  if (databases.size() > 1 && !std::filesystem::exists(databases.back())) databases.pop_back();
  std::vector<StoredWinner> winners =
      current_winners(databases, source.info(), source.environment());
  if (options.stale) std::erase_if(winners, [](const StoredWinner& row) { return !row.stale; });
  const auto most = static_cast<size_t>(options.canary);
  if (most > 0 && winners.size() > most) winners.resize(most);
  return winners;
}

CompareOptions compare_options(const Options& options) {
  CompareOptions compare;
  compare.seed = options.seed;
  compare.rung = kFreshRung;
  if (options.rounds > 0) compare.max_rounds = options.rounds;
  if (options.budget_s > 0) {
    compare.deadline = tuner::Clock::now() + tuner::to_duration(options.budget_s);
  }
  return compare;
}

std::string counts_text(const std::vector<VerifiedWinner>& winners) {
  std::string text;
  for (const VerifyState state : {VerifyState::kHeld,
                                  VerifyState::kLost,
                                  VerifyState::kAmbiguous,
                                  VerifyState::kUnmeasured}) {
    const auto count = std::count_if(winners.begin(),
                                     winners.end(),
                                     [&](const VerifiedWinner& row) { return row.state == state; });
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(state));
  }
  return text;
}

}  // namespace

int cmd_verify(const Options& options) {
  const std::vector<std::string> databases = database_paths(options.databases);
  const std::string written_path = written_database(options.databases);
  const std::string spec = device_spec(options.device);
  const auto source = tuner::open_source(spec, self_executable());
  const std::vector<StoredWinner> winners = chosen_winners(options, databases, *source);
  const CompareOptions compare = compare_options(options);
  install_stop_signals();

  std::vector<VerifiedWinner> verified;
  int64_t written = 0;
  if (!winners.empty()) {
    db::Store own = db::Store::open(written_path, db::OpenMode::kReadWrite);
    const int64_t run_id = own.begin_run(run_info(options));
    for (const StoredWinner& winner : winners) {
      if (stop_requested() || tuner::Clock::now() >= compare.deadline) break;
      VerifiedWinner row = verify_winner(*source, winner, compare, stop_requested());
      if (!row.comparison.legs.empty() && !row.comparison.complete) break;
      verified.push_back(std::move(row));
      written += keep(verified.back(), *source, &own, run_id) ? 1 : 0;
      if (options.progress && !options.quiet) {
        say_wrapped(stderr,
                    fmt::format("mla-tune verify: {}/{}  {}  {}\n",
                                verified.size(),
                                winners.size(),
                                to_text(winner.summary.winner.problem),
                                name(verified.back().state)));
      }
    }
  }
  if (options.json) {
    fmt::print("{}\n", verify_json(verified, source->info(), written_path));
  } else if (winners.empty()) {
    fmt::print("no stored winner of this device{}\n", options.stale ? " is stale" : "");
  } else {
    const Terminal terminal = inspect(stdout, options.color);
    const std::string sum =
        fmt::format("{}; {} rows written to {}\n", counts_text(verified), written, written_path);
    fmt::print("{}{}", verify_text(verified, terminal), wrapped(terminal, sum, 2));
  }
  if (stop_signal() != 0) return kSignalBase + stop_signal();
  const auto any = [&](VerifyState state) {
    return std::any_of(verified.begin(), verified.end(), [&](const VerifiedWinner& row) {
      return row.state == state;
    });
  };
  if (verified.size() < winners.size()) return kStoppedEarly;
  return any(VerifyState::kLost) || any(VerifyState::kUnmeasured) ? kNegativeAnswer : kDone;
}

}  // namespace mla::tools

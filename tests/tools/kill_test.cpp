// SPDX-License-Identifier: MIT
// A run that is killed at any moment leaves a sound database, and running again gives the winners
// of a run that was never killed. The suite `full` holds the full count and is run under its own
// label.
#define BOOST_TEST_MODULE kill
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "db/store.h"
#include "kernels/error.h"
#include "tests/tools/kill_points.h"
#include "tuner/session.h"
#include "tuner/sources.h"

namespace mla::test {
namespace {

namespace fs = std::filesystem;

struct Scenario {
  std::string device;
  std::vector<std::string> problems;
  std::vector<std::string> configs;  // what is tried; empty: ten of the space
};
// Named configurations spare every one of the many runs the listing of a space of 35,000.
const Scenario kAnalytic = {"analytic:noise=0.5%,seed=3",
                            {"batch=8 nhead=12 seq_len=4096", "batch=24 nhead=12 seq_len=4096"},
                            {"splits=4",
                             "splits=8",
                             "splits=16",
                             "splits=16 wait=partial",
                             "splits=32 stages=3",
                             "splits=32 stages=3 wait=partial",
                             "splits=64 tile_n=32",
                             "splits=64 stage1_warps=8"}};
// Real kernels and checks in a worker process, with times that do not depend on the machine.
const Scenario kCpu = {"faulty:fixed:cpu:threads=1", {"batch=2 nhead=3 seq_len=64"}, {}};

// In a child process, as SQLite's state does not survive a fork. The exit status says whether every
// shape has its winner.
void tune(const Scenario& scenario, const std::string& database) {
  db::Store store = db::Store::open(database, db::OpenMode::kReadWrite);
  const auto source = watch(tuner::open_source(scenario.device, MLA_TEST_WORKER));
  std::vector<Problem> problems;
  for (const std::string& text : scenario.problems) problems.push_back(parse_problem(text));
  tuner::SessionOptions options;
  options.max_configs = 10;
  for (const std::string& text : scenario.configs) {
    options.only.push_back(parse_config(text, source->space().neutral()));
  }
  const std::atomic<bool> stop{false};
  const tuner::SessionResult result = tuner::run_session(
      *source, &store, db::RunInfo{}, problems, options, [](const tuner::ProgressEvent&) {}, stop);
  for (const tuner::ShapeResult& shape : result.shapes) {
    const bool done = shape.status == tuner::ShapeStatus::kDone ||
                      shape.status == tuner::ShapeStatus::kAlreadyDone;
    if (!done) throw Error(ErrorCode::kInternal, to_text(shape.problem) + ": " + shape.text);
  }
}

// Returns the wait status.
int in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      _exit(0);
    } catch (const std::exception& error) {
      // Boost.Test's log belongs to the parent.
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  int status = -1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

// What a later lookup and a report depend on, by problem.
std::map<std::string, std::string> winners(const std::string& database) {
  std::map<std::string, std::string> result;
  for (const auto& row : db::Store::open(database, db::OpenMode::kReadOnly).summaries()) {
    const db::WinnerRecord& w = row.winner;
    result[to_text(w.problem)] = to_text(w.config) + " " + std::string(name(w.verdict)) + " " +
                                 std::to_string(w.gain) + " " + std::to_string(w.wins) + "/" +
                                 std::to_string(w.rounds);
  }
  return result;
}

void require_sound(const std::string& database) {
  for (const auto& row : db::Store::open(database, db::OpenMode::kReadWrite).check()) {
    BOOST_TEST(row.ok, row.check << ": " << row.detail);
  }
}

// One scenario with its uninterrupted run.
class KillBench {
 public:
  explicit KillBench(Scenario scenario) : scenario_(std::move(scenario)) {
    std::string pattern = (fs::temp_directory_path() / "mla-kill-XXXXXX").string();
    BOOST_REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    counts_ = static_cast<MomentCounts*>(mmap(
        nullptr, sizeof(MomentCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    // The workers of killed tuners become children of this process, so their end can be waited for.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    BOOST_REQUIRE(run(database("whole"), Moment::kAny, 0) == 0);
    totals_ = *counts_;
    winners_ = winners(database("whole"));
    BOOST_REQUIRE(winners_.size() == scenario_.problems.size());
  }
  ~KillBench() {
    munmap(counts_, sizeof(MomentCounts));
    fs::remove_all(folder_);
  }
  KillBench(const KillBench&) = delete;
  KillBench& operator=(const KillBench&) = delete;

  // Kills at `count` moments of a kind, chosen by the seed, each in a run of its own.
  void kill_at(Moment moment, int count, uint32_t seed) {
    std::mt19937 random(seed);
    const int64_t total = totals_.seen[static_cast<size_t>(moment)];
    BOOST_REQUIRE(total > count);
    for (int i = 0; i < count; ++i) {
      const int64_t nth = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(total));
      BOOST_TEST_CONTEXT("moment " << nth << " of " << total) {
        kill_once(database(std::to_string(i)), moment, nth);
      }
    }
  }

 private:
  std::string database(const std::string& stem) const {
    return (folder_ / (stem + ".db")).string();
  }

  int run(const std::string& path, Moment moment, int64_t nth) {
    return in_child([&] {
      watch_sqlite();
      arm(counts_, moment, nth);
      tune(scenario_, path);
    });
  }

  void kill_once(const std::string& path, Moment moment, int64_t nth) {
    const int status = run(path, moment, nth);
    BOOST_REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    // Returns at once without children, and hangs into the test's time limit if a worker lives on.
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    require_sound(path);
    BOOST_REQUIRE(run(path, Moment::kAny, 0) == 0);
    BOOST_TEST((winners(path) == winners_));
    require_sound(path);
    BOOST_TEST(run(path, Moment::kAny, 0) == 0);
    BOOST_TEST(counts_->seen[static_cast<size_t>(Moment::kFinalSample)] == 0);
  }

  Scenario scenario_;
  fs::path folder_;
  MomentCounts* counts_ = nullptr;  // shared with the children
  MomentCounts totals_;             // of the uninterrupted run
  std::map<std::string, std::string> winners_;
};

BOOST_AUTO_TEST_SUITE(quick)

BOOST_AUTO_TEST_CASE(a_run_killed_at_seeded_moments_resumes_to_the_same_winners) {
  KillBench(kAnalytic).kill_at(Moment::kAny, 10, 1);
}

BOOST_AUTO_TEST_CASE(a_run_killed_inside_a_commit_resumes_to_the_same_winners) {
  KillBench(kAnalytic).kill_at(Moment::kFileChange, 10, 2);
}

BOOST_AUTO_TEST_CASE(a_run_killed_inside_a_final_resumes_to_the_same_winners) {
  KillBench(kAnalytic).kill_at(Moment::kFinalSample, 6, 3);
}

BOOST_AUTO_TEST_CASE(a_run_on_the_cpu_killed_at_seeded_moments_resumes_to_the_same_winners) {
  KillBench(kCpu).kill_at(Moment::kAny, 4, 4);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(full, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(a_run_killed_at_100_seeded_moments_resumes_to_the_same_winners) {
  KillBench(kAnalytic).kill_at(Moment::kAny, 80, 11);
  KillBench(kCpu).kill_at(Moment::kAny, 20, 12);
}

BOOST_AUTO_TEST_CASE(a_run_killed_inside_20_commits_resumes_to_the_same_winners) {
  KillBench(kAnalytic).kill_at(Moment::kFileChange, 20, 13);
}

BOOST_AUTO_TEST_CASE(a_run_killed_inside_20_finals_resumes_to_the_same_winners) {
  KillBench(kAnalytic).kill_at(Moment::kFinalSample, 20, 14);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace mla::test

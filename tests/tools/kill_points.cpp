// SPDX-License-Identifier: MIT
#include "tests/tools/kill_points.h"

#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace mla::test {
namespace {

struct Watch {
  MomentCounts* counts = nullptr;
  Moment moment = Moment::kAny;
  int64_t nth = 0;
};
Watch armed;

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Counts a moment of one kind, and of any kind. True where it is the one.
bool is_due(Moment moment) {
  if (armed.counts == nullptr) return false;
  bool due = false;
  for (const Moment kind : {Moment::kAny, moment}) {
    const int64_t seen = ++armed.counts->seen[static_cast<size_t>(kind)];
    due = due || (kind == armed.moment && seen == armed.nth);
    if (moment == Moment::kAny) break;
  }
  return due;
}

ssize_t cut_pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  if (is_due(Moment::kFileChange)) {
    [[maybe_unused]] const ssize_t half = pwrite(fd, data, bytes / 2, offset);
    die();
  }
  return pwrite(fd, data, bytes, offset);
}

int cut_ftruncate(int fd, off_t bytes) {
  if (is_due(Moment::kFileChange)) die();
  return ftruncate(fd, bytes);
}

int cut_unlink(const char* path) {
  if (is_due(Moment::kFileChange)) die();
  return unlink(path);
}

template <typename Function>
void replace(const char* name, Function function) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  const auto pointer = reinterpret_cast<sqlite3_syscall_ptr>(function);
  if (vfs->xSetSystemCall(vfs, name, pointer) != SQLITE_OK) {
    throw std::runtime_error(std::string("SQLite has no system call ") + name);
  }
}

class WatchedSource : public tuner::CandidateSource {
 public:
  explicit WatchedSource(std::unique_ptr<CandidateSource> inner) : inner_(std::move(inner)) {}

  const DeviceInfo& info() const override { return inner_->info(); }
  const Space& space() const override { return inner_->space(); }
  db::Environment environment() const override { return inner_->environment(); }
  Space::Listing list(const Problem& problem) const override { return inner_->list(problem); }

  Outcome select(const Problem& problem, uint64_t seed) override {
    if (is_due(Moment::kAny)) die();
    return inner_->select(problem, seed);
  }
  Outcome admit(const KernelConfig& config, bool first) override {
    if (is_due(Moment::kAny)) die();
    return inner_->admit(config, first);
  }
  TimedRun sample(const KernelConfig& config, const tuner::SampleId& id) override {
    if (is_due(id.phase == db::Phase::kFinal ? Moment::kFinalSample : Moment::kAny)) die();
    return inner_->sample(config, id);
  }

 private:
  std::unique_ptr<CandidateSource> inner_;
};

}  // namespace

void arm(MomentCounts* counts, Moment moment, int64_t nth) {
  *counts = {};
  armed = {counts, moment, nth};
}

// Both names of pwrite: which one SQLite uses depends on how it was built.
void watch_sqlite() {
  replace("pwrite", cut_pwrite);
  replace("pwrite64", cut_pwrite);
  replace("ftruncate", cut_ftruncate);
  replace("unlink", cut_unlink);
}

std::unique_ptr<tuner::CandidateSource> watch(std::unique_ptr<tuner::CandidateSource> source) {
  return std::make_unique<WatchedSource>(std::move(source));
}

}  // namespace mla::test

// SPDX-License-Identifier: MIT
#include "tuner/device_sessions.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "kernels/error.h"
#include "tuner/rounds.h"

namespace mla::tuner {
namespace {

using Indices = std::vector<size_t>;  // of shapes

// How long a stop may take to reach the threads.
constexpr std::chrono::milliseconds kStopDelay{20};

void require_alike(const std::vector<std::unique_ptr<CandidateSource>>& sources) {
  const DeviceInfo& first = sources.front()->info();
  for (size_t i = 1; i < sources.size(); ++i) {
    const DeviceInfo& other = sources[i]->info();
    if (device_key(other) != device_key(first))
      throw Error(ErrorCode::kUsage,
                  "--device: " + device_key(first) + " and " + device_key(other) +
                      " are tuned apart: a winner of one is no answer for the other");
    for (size_t j = 0; j < i; ++j)
      if (!other.pci_id.empty() && other.pci_id == sources[j]->info().pci_id)
        throw Error(ErrorCode::kUsage, "--device: " + other.pci_id + " is given twice");
  }
}

class DeviceSessions {
 public:
  DeviceSessions(const std::vector<std::unique_ptr<CandidateSource>>& sources,
                 const std::string& database,
                 const db::RunInfo& run,
                 const std::vector<Problem>& problems,
                 const SessionOptions& options,
                 const std::function<void(const ProgressEvent&)>& observer,
                 const std::atomic<bool>& stop)
      : database_(database),
        run_(run),
        problems_(problems),
        options_(usable_at(*sources.front(), options)),
        observer_(observer),
        stop_(stop) {
    for (const auto& source : sources) alive_.push_back(source.get());
  }

  SessionResult run() {
    for (const Problem& problem : problems_) result_.shapes.emplace_back().problem = problem;
    Indices pending(problems_.size());
    std::iota(pending.begin(), pending.end(), size_t{0});
    while (!pending.empty() && !alive_.empty()) pending = tune(pending);
    Indices answered;
    for (size_t i = 0; i < problems_.size(); ++i)
      if (result_.shapes[i].answered()) answered.push_back(i);
    if (answered.empty() && alive_.empty())
      throw Error(ErrorCode::kDevice, result_.shapes.front().text);
    if (!answered.empty() && !alive_.empty() && !stop_) cross(answered);
    result_.elapsed_s = elapsed_s();
    return std::move(result_);
  }

 private:
  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // 0 is no limit and must not come of a budget that is used up.
  double budget_left_s(double share) const {
    constexpr double kNone_s = 1e-6;
    return options_.budget_s > 0 ? std::max(kNone_s, share * options_.budget_s - elapsed_s()) : 0;
  }

  // Tunes these shapes, dealt in turn to the devices. Returns those that a lost device left over.
  Indices tune(const Indices& pending) {
    std::vector<Indices> shares(alive_.size());
    for (size_t i = 0; i < pending.size(); ++i) shares[i % shares.size()].push_back(pending[i]);
    const std::vector<SessionResult> results = run_threads(shares);
    Indices left;
    std::vector<CandidateSource*> kept;
    for (size_t device = 0; device < results.size(); ++device) {
      const SessionResult& result = results[device];
      if (result.lost_device.empty()) kept.push_back(alive_[device]);
      for (size_t i = 0; i < shares[device].size(); ++i) {
        ShapeResult& shape = result_.shapes[shares[device][i]];
        if (i < result.shapes.size()) {
          shape = result.shapes[i];
        } else {
          shape.status = ShapeStatus::kFailed;
          shape.text = result.lost_device;
          left.push_back(shares[device][i]);
        }
      }
      add_counts(result);
    }
    alive_ = kept;
    std::sort(left.begin(), left.end());
    return left;
  }

  std::vector<SessionResult> run_threads(const std::vector<Indices>& shares) {
    std::vector<SessionResult> results(shares.size());
    std::vector<std::exception_ptr> errors(shares.size());
    std::atomic<bool> stop_all{stop_.load()};
    size_t running = shares.size();
    std::vector<std::thread> threads;
    for (size_t device = 0; device < shares.size(); ++device) {
      threads.emplace_back([&, device] {
        try {
          results[device] = run_one(*alive_[device], shares[device], stop_all);
        } catch (...) {
          errors[device] = std::current_exception();
          stop_all = true;
        }
        const std::lock_guard lock(mutex_);
        --running;
        ended_.notify_one();
      });
    }
    {
      std::unique_lock lock(mutex_);
      while (!ended_.wait_for(lock, kStopDelay, [&] { return running == 0; }))
        if (stop_) stop_all = true;
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    return results;
  }

  SessionResult run_one(CandidateSource& source,
                        const Indices& share,
                        const std::atomic<bool>& stop) {
    if (share.empty()) return {};
    SessionOptions options = options_;
    options.cross = false;
    options.outlive_device = true;
    options.budget_s = budget_left_s(options_.cross ? 1 - crossing_share(options_) : 1);
    db::Store store = db::Store::open(database_, db::OpenMode::kReadWrite);
    const auto forward = [&](const ProgressEvent& event) {
      ProgressEvent of_all = event;
      of_all.shape = share[event.shape];
      of_all.shapes = problems_.size();
      of_all.elapsed_s = elapsed_s();
      const std::lock_guard lock(mutex_);
      if (observer_) observer_(of_all);
    };
    return run_session(source, &store, run_, shapes_of(share), options, forward, stop);
  }

  // What lies between shapes that are finished. Where a device is lost the next one goes on.
  void cross(Indices finished) {
    while (!alive_.empty()) {
      const SessionResult result = cross_one(*alive_.front(), finished);
      for (size_t i = finished.size(); i < result.shapes.size(); ++i) {
        finished.push_back(result_.shapes.size());
        result_.shapes.push_back(result.shapes[i]);  // that it has added
      }
      CrossingCounts& crossing = result_.crossing;
      crossing.planned = crossing.held + crossing.lost + result.crossing.planned;
      crossing.held += result.crossing.held;
      crossing.lost += result.crossing.lost;
      result_.refine.tuned += result.refine.tuned;
      result_.refine.left = result.refine.left;
      result_.robust = result.robust;
      result_.lost_device = result.lost_device;
      add_counts(result);
      if (result.lost_device.empty()) return;
      alive_.erase(alive_.begin());
    }
  }

  SessionResult cross_one(CandidateSource& source, const Indices& finished) {
    SessionOptions options = options_;
    options.outlive_device = true;
    options.budget_s = budget_left_s(1);
    db::Store store = db::Store::open(database_, db::OpenMode::kReadWrite);
    const size_t known = result_.shapes.size();
    const auto forward = [&](const ProgressEvent& event) {
      const bool added = event.shape >= finished.size();
      const bool ends = event.kind == ProgressEvent::Kind::kShapeSkipped ||
                        event.kind == ProgressEvent::Kind::kShapeEnd;
      if (!observer_ || (ends && !added)) return;
      ProgressEvent of_all = event;
      of_all.shape = added ? known + event.shape - finished.size() : finished[event.shape];
      of_all.shapes = known + event.shapes - finished.size();
      of_all.elapsed_s = elapsed_s();
      observer_(of_all);
    };
    return run_session(source, &store, run_, shapes_of(finished), options, forward, stop_);
  }

  void add_counts(const SessionResult& result) {
    result_.samples_measured += result.samples_measured;
    result_.samples_reused += result.samples_reused;
    result_.device.add(result.device);
  }

  std::vector<Problem> shapes_of(const Indices& indices) const {
    std::vector<Problem> shapes;
    for (const size_t index : indices) shapes.push_back(result_.shapes[index].problem);
    return shapes;
  }

  const std::string& database_;
  const db::RunInfo& run_;
  const std::vector<Problem>& problems_;
  const SessionOptions options_;
  const std::function<void(const ProgressEvent&)>& observer_;
  const std::atomic<bool>& stop_;
  const Clock::time_point start_ = Clock::now();
  std::vector<CandidateSource*> alive_;
  SessionResult result_;
  std::mutex mutex_;  // of the observer and of the count of running threads
  std::condition_variable ended_;
};

}  // namespace

SessionResult run_device_sessions(const std::vector<std::unique_ptr<CandidateSource>>& sources,
                                  const std::string& database,
                                  const db::RunInfo& run,
                                  const std::vector<Problem>& problems,
                                  const SessionOptions& options,
                                  const std::function<void(const ProgressEvent&)>& observer,
                                  const std::atomic<bool>& stop) {
  if (sources.size() == 1) {
    db::Store store = db::Store::open(database, db::OpenMode::kReadWrite);
    return run_session(*sources.front(), &store, run, problems, options, observer, stop);
  }
  require_alike(sources);
  return DeviceSessions(sources, database, run, problems, options, observer, stop).run();
}

}  // namespace mla::tuner

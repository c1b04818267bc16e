// SPDX-License-Identifier: MIT
#include "tuner/worker_server.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <new>

#include "tuner/worker_channel.h"
#include "tuner/worker_protocol.h"

namespace mla::tuner {
namespace {

class Answerer {
 public:
  explicit Answerer(CandidateSource& source) : source_(source) {}

  TimedRun operator()(const SelectRequest& r) const {
    return {source_.select(r.problem, r.seed), 0};
  }
  TimedRun operator()(const AdmitRequest& r) const { return {source_.admit(r.config, r.first), 0}; }
  // No device that measures looks at the sample's number.
  TimedRun operator()(const SampleRequest& r) const { return source_.sample(r.config, SampleId{}); }

 private:
  CandidateSource& source_;
};

TimedRun answer(CandidateSource& source, const std::string& line) {
  try {
    TimedRun sample = std::visit(Answerer(source), parse_request(line));
    if (!sample.outcome.ok()) sample.time_us = 0;
    return sample;
  } catch (const std::bad_alloc&) {
    return {{OutcomeKind::kOutOfMemory, "no host memory"}, 0};
  }
}

}  // namespace

bool become_worker(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return false;  // it died before the line above
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  return true;
}

void serve_worker(int fd, const SourceOpener& open) {
  LineChannel channel(fd);
  try {
    const std::unique_ptr<CandidateSource> source = open();
    channel.write(to_line(Hello{source->info(), source->environment()}));
    for (std::string line; channel.read(&line) == LineChannel::Read::kLine;) {
      if (!channel.write(to_line(answer(*source, line)))) return;
    }
  } catch (const Error& error) {
    channel.write(to_line(error));
  } catch (const std::exception& error) {
    channel.write(to_line(Error(ErrorCode::kInternal, error.what())));
  }
}

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// One worker process: started by exec in its own process group, with one end of a socket as its
// standard input, and gone when this object is. Not thread-safe; the thread that starts it has to
// outlive it, since the kernel ends the worker with that thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/outcome.h"
#include "tuner/worker_channel.h"

namespace mla::tuner {

class WorkerProcess {
 public:
  // Runs `program` with `arguments` and `--parent PID` behind them. Throws Error(kDevice) where it
  // cannot be started.
  WorkerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  LineChannel& channel() { return *channel_; }

  // Before a request: makes room for what the worker prints until the next one.
  void forget_output();

  // For a worker that closed its channel: waits for its end and says what it was. kFault with the
  // signal or status and the last line it printed, or kOutOfMemory where the kernel's memory killer
  // took it.
  Outcome how_it_ended();

 private:
  void kill_group();
  bool reap(double limit_s);
  std::string last_output_line() const;

  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;         // of waitpid, once reaped
  int output_fd_ = -1;     // unnamed file of fixed size that holds its stdout and stderr
  int64_t oom_kills_ = 0;  // on this machine when it was started
  std::unique_ptr<LineChannel> channel_;
};

// The outcome of a worker that ended by itself with this waitpid status. `oom_killed`: the memory
// killer struck on this machine during its life.
Outcome outcome_of_end(int wait_status, bool oom_killed, const std::string& last_line);

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
#include "tuner/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::tuner {
namespace {

// A worker that closed its channel is on its way out; one that is killed needs the kernel to tear
// down its mappings, and a GPU driver its context.
constexpr double kOwnEndLimit_s = 2;
constexpr double kKillLimit_s = 10;

// Of a worker's output, from one request to the next.
constexpr off_t kOutputBytes = 64 * 1024;

[[noreturn]] void cannot_start(const std::string& program, const char* step, int error) {
  throw Error(ErrorCode::kDevice,
              fmt::format("cannot start the worker {}: {}: {}", program, step, strerror(error)));
}

// Processes that the kernel's memory killer ended on this machine so far, in any cgroup; 0:
// unknown.
int64_t oom_kill_count() {
  std::ifstream file("/proc/vmstat");
  std::string key;
  int64_t value = 0;
  while (file >> key >> value) {
    if (key == "oom_kill") return value;
  }
  return 0;
}

// A file and not a pipe: nobody has to empty it while the worker runs. Its size is sealed, so that
// writes behind the end fail. -1 and errno where it cannot be had.
int open_output() {
  const int fd = memfd_create("worker-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (ftruncate(fd, kOutputBytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// posix_spawn's settings: fd 0 is `input`, fds 1 and 2 are `output`, nothing else is inherited; own
// process group, so that a Ctrl-C at the terminal reaches the tuner only and a kill reaches what
// the worker started; signals as in a fresh process.
class SpawnPlan {
 public:
  SpawnPlan(int input, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, 1);
    posix_spawn_file_actions_adddup2(&actions_, output, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // 0 or an errno value.
  int spawn(pid_t* pid, const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    return posix_spawn(pid, program.c_str(), &actions_, &attributes_, argv.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program, const std::vector<std::string>& arguments)
    : oom_kills_(oom_kill_count()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    cannot_start(program, "socketpair", errno);
  }
  channel_ = std::make_unique<LineChannel>(ends[0]);
  const LineChannel theirs(ends[1]);  // closes our copy of the worker's end on every way out
  output_fd_ = open_output();
  if (output_fd_ < 0) cannot_start(program, "memfd_create", errno);

  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--parent", std::to_string(getpid())});
  if (const int error = SpawnPlan(ends[1], output_fd_).spawn(&pid_, program, all); error != 0) {
    close(output_fd_);
    cannot_start(program, "exec", error);
  }
}

WorkerProcess::~WorkerProcess() {
  kill_group();
  reap(kKillLimit_s);
  close(output_fd_);
}

// Before the leader is reaped, so that its group's number cannot belong to somebody else yet.
void WorkerProcess::kill_group() {
  if (!reaped_) kill(-pid_, SIGKILL);
}

bool WorkerProcess::reap(double limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  while (!reaped_) {
    if (waitpid(pid_, &status_, WNOHANG) != 0) {
      reaped_ = true;
    } else if (std::chrono::steady_clock::now() > end) {
      return false;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return true;
}

Outcome WorkerProcess::how_it_ended() {
  if (!reap(kOwnEndLimit_s)) {
    return {OutcomeKind::kFault, "the worker closed its channel and did not end"};
  }
  return outcome_of_end(status_, oom_kill_count() > oom_kills_, last_output_line());
}

// The worker shares the file offset.
void WorkerProcess::forget_output() {
  lseek(output_fd_, 0, SEEK_SET);
}

std::string WorkerProcess::last_output_line() const {
  const off_t end = lseek(output_fd_, 0, SEEK_CUR);
  std::string tail(4096, '\0');
  const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(tail.size()));
  const ssize_t count = pread(output_fd_, tail.data(), static_cast<size_t>(end - begin), begin);
  tail.resize(count > 0 ? static_cast<size_t>(count) : 0);
  tail.resize(tail.find_last_not_of(" \t\r\n") + 1);
  return tail.substr(tail.find_last_of('\n') + 1);
}

Outcome outcome_of_end(int wait_status, bool oom_killed, const std::string& last_line) {
  const std::string printed = last_line.empty() ? "" : ": " + one_line(last_line);
  if (!WIFSIGNALED(wait_status)) {
    return {OutcomeKind::kFault,
            fmt::format("the worker exited with status {}{}", WEXITSTATUS(wait_status), printed)};
  }
  const int signal = WTERMSIG(wait_status);
  if (signal == SIGKILL && oom_killed) {
    return {OutcomeKind::kOutOfMemory, "the worker was ended by the kernel for want of memory"};
  }
  const char* abbreviation = sigabbrev_np(signal);  // null for a real-time signal
  const std::string signal_name = abbreviation != nullptr ? std::string("SIG") + abbreviation
                                                          : fmt::format("signal {}", signal);
  return {OutcomeKind::kFault, fmt::format("the worker was ended by {}{}", signal_name, printed)};
}

}  // namespace mla::tuner

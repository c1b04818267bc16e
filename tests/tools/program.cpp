// SPDX-License-Identifier: MIT
#include "tests/tools/program.h"

#include <fcntl.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>

namespace mla::testing {
namespace {

constexpr int kCannotStart = 127;

[[noreturn]] void become_program(std::vector<std::string> args,
                                 const ProgramOptions& options,
                                 int out_fd,
                                 int err_fd) {
  dup2(out_fd, STDOUT_FILENO);
  dup2(err_fd, STDERR_FILENO);
  if (options.max_file_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(options.max_file_bytes);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  // Without this, exec gives root every capability back, the one to ignore permissions included.
  if (options.unprivileged && geteuid() == 0 && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT) != 0) {
    _exit(kCannotStart);
  }
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin"};
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (std::string& word : args) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  execve(argv[0], argv.data(), envp.data());
  _exit(kCannotStart);
}

}  // namespace

Program::Program(const std::vector<std::string>& args, const ProgramOptions& options) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  std::vector<std::string> words = {options.program.empty() ? MLA_TUNE_PROGRAM : options.program};
  words.insert(words.end(), args.begin(), args.end());
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) become_program(words, options, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_fd_ >= 0) close(out_fd_);
  if (err_fd_ >= 0) close(err_fd_);
}

bool Program::read_some() {
  pollfd streams[2] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};  // a closed one is -1: ignored
  if (out_fd_ < 0 && err_fd_ < 0) return false;
  while (poll(streams, 2, -1) < 0 && errno == EINTR) {
  }
  const auto take = [](const pollfd& stream, int* fd, std::string* text) {
    if (stream.revents == 0) return;
    char buffer[4096];
    const ssize_t count = read(*fd, buffer, sizeof buffer);
    if (count > 0) {
      text->append(buffer, static_cast<size_t>(count));
    } else {
      close(*fd);
      *fd = -1;
    }
  };
  take(streams[0], &out_fd_, &result_.out);
  take(streams[1], &err_fd_, &result_.err);
  return true;
}

bool Program::wait_for_error_text(const std::string& text) {
  while (result_.err.find(text) == std::string::npos) {
    if (!read_some()) return false;
  }
  return true;
}

void Program::signal(int number) const {
  kill(pid_, number);
}

ProgramResult Program::wait() {
  while (read_some()) {
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  result_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result_;
}

ProgramResult run(const std::vector<std::string>& args, const ProgramOptions& options) {
  Program program(args, options);
  return program.wait();
}

}  // namespace mla::testing

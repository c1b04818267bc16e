// SPDX-License-Identifier: MIT
#include "tools/signals.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "tools/commands.h"

namespace mla::tools {
namespace {

// A handler can reach nothing but objects of static storage.
std::atomic<bool> g_stop{false};
std::atomic<int> g_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void handle(int number) {
  if (g_signal.exchange(number) != 0) _exit(kSignalBase + number);
  g_stop.store(true);
  const int interrupted_errno = errno;
  constexpr std::string_view kText =
      "\nmla-tune: stopping after what is in progress; once more to stop at once\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  errno = interrupted_errno;
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // the worker's answers are read on
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>& stop_requested() {
  return g_stop;
}

int stop_signal() {
  return g_signal.load();
}

}  // namespace mla::tools

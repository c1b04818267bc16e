// SPDX-License-Identifier: MIT
#include "tuner/worker_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>

namespace mla::tuner {
namespace {

using Clock = std::chrono::steady_clock;

// Rounded up, so that a poll never returns just before the limit and spins. -1: no limit.
int poll_timeout_ms(double limit_s, Clock::time_point start) {
  if (limit_s < 0) return -1;
  const double left_s = limit_s - std::chrono::duration<double>(Clock::now() - start).count();
  return static_cast<int>(std::clamp(std::ceil(left_s * 1000), 0.0, 1e9));
}

}  // namespace

LineChannel::~LineChannel() {
  close(fd_);
}

bool LineChannel::write(std::string line) {
  line += '\n';
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t count = send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

bool LineChannel::take_line(std::string* line) {
  const size_t newline = buffer_.find('\n');
  if (newline == std::string::npos) return false;
  *line = buffer_.substr(0, newline);
  buffer_.erase(0, newline + 1);
  return true;
}

LineChannel::Read LineChannel::read(std::string* line, double limit_s) {
  const Clock::time_point start = Clock::now();
  while (!take_line(line)) {
    if (buffer_.size() > kMaxLine) return Read::kClosed;
    pollfd event{fd_, POLLIN, 0};
    const int ready = poll(&event, 1, poll_timeout_ms(limit_s, start));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Read::kTimeout;
    char chunk[4096];
    const ssize_t count = recv(fd_, chunk, sizeof chunk, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Read::kClosed;
    buffer_.append(chunk, static_cast<size_t>(count));
  }
  return Read::kLine;
}

}  // namespace mla::tuner

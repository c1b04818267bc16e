// SPDX-License-Identifier: MIT
// Lines over a connected stream socket, for both ends of the worker protocol. Writing to a peer
// that is gone is a result and never SIGPIPE. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace mla::tuner {

class LineChannel {
 public:
  // Longer than any message of the protocol: more than this without a newline is not one of them.
  static constexpr size_t kMaxLine = 64 * 1024;
  static constexpr double kNoLimit = -1;

  enum class Read { kLine, kClosed, kTimeout };

  explicit LineChannel(int fd) : fd_(fd) {}  // closes it
  ~LineChannel();
  LineChannel(const LineChannel&) = delete;
  LineChannel& operator=(const LineChannel&) = delete;

  // Adds the newline. False where the other end is gone.
  bool write(std::string line);

  // The next line without its newline. An overlong line counts as kClosed.
  Read read(std::string* line, double limit_s = kNoLimit);

 private:
  bool take_line(std::string* line);

  int fd_;
  std::string buffer_;
};

}  // namespace mla::tuner

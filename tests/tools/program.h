// SPDX-License-Identifier: MIT
// Starts the built mla-tune and reads what it says. No shell, no sleep: whoever waits, waits for
// output.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace mla::testing {

struct ProgramOptions {
  std::string program = {};                             // empty: the built mla-tune
  std::map<std::string, std::string> environment = {};  // all of it, beside PATH
  long max_file_bytes = 0;    // 0: no limit; else writes beyond fail as on a full disk do (EFBIG)
  bool unprivileged = false;  // file permissions hold for root as well
};

struct ProgramResult {
  int status = -1;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};

class Program {
 public:
  explicit Program(const std::vector<std::string>& args, const ProgramOptions& options = {});
  ~Program();  // kills what still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads standard error until it holds `text`; false where the program ends first.
  bool wait_for_error_text(const std::string& text);
  void signal(int number) const;
  ProgramResult wait();

 private:
  bool read_some();  // false at the end of both streams

  pid_t pid_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  ProgramResult result_;
};

ProgramResult run(const std::vector<std::string>& args, const ProgramOptions& options = {});

}  // namespace mla::testing

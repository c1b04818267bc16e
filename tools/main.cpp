// SPDX-License-Identifier: MIT
// mla-tune: takes the verb, and maps what it throws to one line and an exit status.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "tools/commands.h"

namespace mla::tools {
namespace {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return kUsageError;
    case ErrorCode::kDevice:
      return kNoDevice;
    case ErrorCode::kDatabase:
      return kDatabaseError;
    case ErrorCode::kInternal:
      return kInternalError;
  }
  return kInternalError;
}

// The text may quote a file or a worker: it stays on one line.
int report_error(const std::vector<std::string>& args, int status, std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  const std::string verb = verb_name(args);
  say_wrapped(stderr, fmt::format("mla-tune{}{}: {}\n", verb.empty() ? "" : " ", verb, text));
  return status;
}

int dispatch(const Options& options) {
  switch (options.verb) {
    case Verb::kDevices:
      return cmd_devices(options);
    case Verb::kSpace:
      return cmd_space(options);
    case Verb::kRun:
      return cmd_run(options);
    case Verb::kLookup:
      return cmd_lookup(options);
    case Verb::kBench:
      return cmd_bench(options);
    case Verb::kSweep:
      return cmd_sweep(options);
    case Verb::kVerify:
      return cmd_verify(options);
    case Verb::kEvaluate:
      return cmd_evaluate(options);
    case Verb::kCompare:
      return cmd_compare(options);
    case Verb::kDoctor:
      return cmd_doctor(options);
    case Verb::kReport:
      return cmd_report(options);
    case Verb::kDb:
      return cmd_db(options);
    case Verb::kCompletion:
      return cmd_completion(options);
  }
  throw Error(ErrorCode::kInternal, "verb without a command");
}

size_t help_width() {
  const size_t width = inspect(stdout, Color::kAuto).width;
  return width == 0 ? kHelpWidth : std::min(width, kHelpWidth);
}

int run_verb(const std::vector<std::string>& args) {
  if (!args.empty() && (args[0] == "--help" || args[0] == "-h" || args[0] == "help")) {
    const bool of_verb = args.size() > 1;
    fmt::print("{}",
               of_verb ? help_text(parse_options({args[1], "--help"}).verb, help_width())
                       : overview_text(help_width()));
    return kDone;
  }
  if (!args.empty() && args[0] == "--version") {
    fmt::print("mla-tune {}\n", MLA_TUNE_VERSION);
    return kDone;
  }
  const Options options = parse_options(args);
  if (options.help) {
    fmt::print("{}", help_text(options.verb, help_width()));
    return kDone;
  }
  return dispatch(options);
}

// Else the first file opened, a database say, would take the number of a stream that was closed.
// Read-only, so that writing still fails.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) std::abort();
  }
}

int guarded(const std::vector<std::string>& args) {
  try {
    const int status = run_verb(args);
    // A result that did not reach its file must not look like success.
    if (std::fflush(stdout) != 0) {
      return report_error(
          args, kInternalError, fmt::format("standard output: {}", std::strerror(errno)));
    }
    return status;
  } catch (const Error& error) {
    return report_error(args, exit_status(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return report_error(args, kInternalError, "out of memory");
  } catch (const std::exception& error) {
    return report_error(args, kInternalError, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace
}  // namespace mla::tools

int main(int argc, char** argv) {
  mla::tools::occupy_standard_streams();
  if (argc > 1 && std::strcmp(argv[1], "worker") == 0) return worker_main(argc, argv);
  return mla::tools::guarded({argv + (argc > 0 ? 1 : 0), argv + argc});
}

// SPDX-License-Identifier: MIT
// The verbs. Each returns its exit status and throws Error for what went wrong; main.cpp maps both.
#pragma once

#include "tools/options.h"

// The measuring process behind `mla-tune run`, started by it and not by people. Dispatched ahead of
// the option parser, which knows nothing of it.
int worker_main(int argc, char** argv);

namespace mla::tools {

enum ExitStatus : int {
  kDone = 0,
  kNegativeAnswer = 1,
  kUsageError = 2,
  kNoDevice = 3,
  kDatabaseError = 4,
  kStoppedEarly = 5,
  kInternalError = 70,
  kSignalBase = 128,  // plus the number of the signal
};

int cmd_devices(const Options& options);
int cmd_space(const Options& options);
int cmd_run(const Options& options);
int cmd_lookup(const Options& options);
int cmd_bench(const Options& options);
int cmd_sweep(const Options& options);
int cmd_verify(const Options& options);
int cmd_evaluate(const Options& options);
int cmd_compare(const Options& options);
int cmd_doctor(const Options& options);
int cmd_report(const Options& options);
int cmd_db(const Options& options);
int cmd_completion(const Options& options);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// What `run` says when it ends: table, summary, warnings, how to go on, and its exit status.
#pragma once

#include <string>

#include "tools/json.h"
#include "tools/progress.h"
#include "tools/term.h"

namespace mla::tools {

// 0, 1 where a shape could not be measured, 5 where the budget left some out, 128 + signal.
int run_status(const tuner::SessionResult& result, int signal);
// "done", "failed", "out_of_budget", "stopped".
std::string run_status_text(int status);

// Standard output: the table and the summary line.
std::string run_text(const RunDocument& run, const Terminal& terminal);
// Standard output: three commands that make sense now.
std::string next_steps(const RunDocument& run, int status, const Terminal& terminal);
// Standard error: noise, shapes left out, how to resume; with `verbose` where the time went.
std::string run_notes(const RunDocument& run, int status, bool verbose, const Terminal& terminal);
// Standard error: failures by kind, each with the command that shows the first one again.
std::string failure_text(const FailureCounts& failures,
                         const std::string& device_spec,
                         const Terminal& terminal);

// The options that describe this very shape: "--batch 8 --nhead 12 --seq-len 68000".
std::string shape_options(const Problem& problem);

}  // namespace mla::tools

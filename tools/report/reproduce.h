// SPDX-License-Identifier: MIT
// Commands that measure again what a database holds.
#pragma once

#include <string>
#include <vector>

#include "kernels/config.h"
#include "kernels/problem.h"

namespace mla::tools {

// The words of a line that shell_quoted() wrote; of another one, what a shell would make of plain
// words and single quotes.
std::vector<std::string> shell_words(const std::string& line);

// What a stored command gave to --device; empty where it did not.
std::string device_spec_of(const std::string& command_line);

// "mla-tune bench --device hip:0 --batch 8 ... --config '...'".
std::string reproduce_command(const std::string& run_command_line,
                              const Problem& problem,
                              const KernelConfig& config);

}  // namespace mla::tools

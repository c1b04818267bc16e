// SPDX-License-Identifier: MIT
// The length distribution that plans for unknown lengths are made for.
#pragma once

#include <string>
#include <vector>

#include "tools/options.h"
#include "tuner/session.h"

namespace mla::tools {

// A serving histogram: lines of "rows count", where '#' begins a comment. Each octave becomes one
// length, the mean of its requests. Throws Error(kUsage) naming the line.
std::vector<tuner::LengthShare> read_lengths(const std::string& path);

// Of --lengths and --unknown-length: the file's, those of --seq-len alike, or the default ones.
// Empty where neither was given.
std::vector<tuner::LengthShare> chosen_lengths(const Options& options);

}  // namespace mla::tools

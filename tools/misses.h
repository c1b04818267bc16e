// SPDX-License-Identifier: MIT
// What serving engines wrote of the shapes that no database answered (mla_policy_misses), weighed,
// and the list of shapes that a run takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.h"
#include "tools/term.h"

namespace mla::tools {

struct Miss {
  Problem problem;  // seq_len 0: unknown
  int64_t count = 0;
  double time_us = 0;
  double share = 0;  // of the time of all steps; of all misses where no time was reported
};

struct Misses {
  std::vector<Miss> shapes;  // the largest share first
  int64_t forgotten = 0;     // misses that the engines had no room for
  bool timed = false;
};

class MissReader {
 public:
  // The files of several processes add up; lengths of one bucket (shape_key.h) are one shape.
  // Throws Error(kUsage) naming file and line.
  void add(std::string_view text, const std::string& name);
  Misses result() const;

 private:
  void add_header(std::string_view line);
  void add_shape(std::string_view line);

  Misses sum_;
  double all_time_us_ = 0;
};

std::string misses_table(const Misses& misses, const Terminal& terminal);

// A problem a line, '#' begins a comment: what `run --from` and `evaluate --from` read.
std::string shapes_text(const Misses& misses);
// Throws Error(kUsage) naming file and line, or where the file holds no shape.
std::vector<Problem> parse_shapes(std::string_view text, const std::string& name);
// Of several files, each shape once.
std::vector<Problem> read_shapes(const std::vector<std::string>& paths);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// What `run` would do: the shapes, what a search may visit for each, and what the database already
// holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/problem.h"
#include "tools/options.h"
#include "tools/term.h"
#include "tuner/source.h"

namespace mla::tools {

struct PlannedShape {
  Problem problem;
  KernelConfig default_config;
  int64_t configs = 0;                    // legal, distinct and to be visited
  std::map<std::string, int64_t> pruned;  // constraint -> left out
  bool tuned_before = false;              // the database has a winner of this device and shape
};

struct RunPlan {
  std::string device_spec;
  DeviceInfo device;
  std::string database;
  double budget_s = 0;  // 0: no limit
  std::vector<PlannedShape> shapes;
};

// The shapes that the command line names, else those that a recording answers for, else the preset
// `quick`.
std::vector<Problem> chosen_problems(const Options& options, const tuner::CandidateSource& source);

// `only`: the configurations named on the command line; empty: the whole space, or what a small
// search visits.
RunPlan make_plan(const tuner::CandidateSource& source,
                  const std::vector<Problem>& problems,
                  const std::vector<KernelConfig>& only,
                  bool small_search,
                  const std::string& database);

std::string plan_text(const RunPlan& plan, const Terminal& terminal);

// "split_major_batch 120, local_memory 32".
std::string pruned_text(const std::map<std::string, int64_t>& pruned);

}  // namespace mla::tools

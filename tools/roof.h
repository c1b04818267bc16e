// SPDX-License-Identifier: MIT
// `bench --preset roof`: the operation against the roofs of the device, all measured in one run.
// Measures and returns plain structs; the writers are roof_text() and roof_json().
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "kernels/roofs.h"
#include "tools/term.h"
#include "tuner/stats.h"

namespace mla::tools {

enum class RoofBase { kCopyOnly, kFloor };

struct RoofShape {
  Problem problem;
  RoofBase base{};  // what the goal is a multiple of
  double goal = 0;  // at most
};

// The shapes that goals are stated for.
std::vector<RoofShape> roof_shapes();

// The time that no kernel beats: every row once from memory, and every request's rows from the
// last-level cache.
struct RoofFloor {
  double time_us = 0;
  std::string bound;  // "read" or "l2": the roof that sets it
};
RoofFloor roof_floor(const Problem& problem, const RoofRates& rates);

struct RoofConfig {
  KernelConfig config;
  std::string origin;  // "given", "database" or "default"
};

struct RoofRow {
  RoofShape shape;
  RoofConfig config;
  Outcome outcome;  // kOk, or why there is no time
  RoofFloor floor;
  int rounds = 0;
  double time_us = 0;  // medians, cold caches
  double copy_only_us = 0;
  KernelConfig copy_only_config;
  tuner::Quartiles x_copy_only;  // time / copy-only time, formed inside each round
  double x_floor = 0;

  double reached() const { return shape.base == RoofBase::kFloor ? x_floor : x_copy_only.median; }
  bool met() const { return outcome.ok() && rounds > 0 && reached() <= shape.goal; }
};

struct RoofBench {
  DeviceInfo device;
  RoofRates rates;
  std::vector<RoofRow> rows;
};

struct RoofOptions {
  int rounds = 15;
  uint64_t seed = 1;
  std::function<RoofConfig(const Problem&)> choose;
  std::function<void(const std::string&)> progress;  // told what is measured; may be empty
};

// Every shape is checked against the float64 reference and then timed in rounds in which decode and
// copy-only alternate. `stop` ends the bench with the rows that are complete. Throws Error(kUsage)
// for a device without roof probes.
RoofBench bench_roof(Device& device,
                     const std::vector<RoofShape>& shapes,
                     const RoofOptions& options,
                     const std::atomic<bool>& stop);

// The read probe's loads are plain, and a gather of bench_roof may pass it. Then that gather's rate
// is the read ceiling, and the floors of all rows follow. Part of bench_roof.
void raise_read_ceiling(RoofBench* bench);

std::string roof_text(const RoofBench& bench, const Terminal& terminal);
std::string roof_json(const RoofBench& bench);

}  // namespace mla::tools

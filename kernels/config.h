// SPDX-License-Identifier: MIT
// KernelConfig: how one decode step is launched. Plain C++17, no HIP.
//
// Text form, the same in logs, database, command line and errors:
//   splits=32 tile_n=64 stages=2 wait=partial order=batch_major stage1_warps=4 stage2_tiles=1
//   stage2_warps=8
// A knob that the device lacks (a CPU has no warps) is 0 in the struct and left out of the text, as
// are the uniform schedule and row groups of 16 rows, which every device has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mla {

// Names reach the database: never renumber or rename.
enum class Wait : int32_t {
  kDrain = 0,    // every outstanding copy is waited for at the loop head
  kPartial = 1,  // only the copy needed next is retired; the rest of the ring stays in flight
};
enum class Order : int32_t {
  kBatchMajor = 0,  // consecutive workgroups walk the requests of one split
  kSplitMajor = 1,  // consecutive workgroups walk the splits of one request
};
enum class Schedule : int32_t {
  kUniform = 0,     // every request is cut into `splits` ranges, a workgroup each
  kPersistent = 1,  // as many workgroups as fit, an equal share of all requests' blocks each
};

struct KernelConfig {
  int32_t splits = 1;   // launch budget of KV splits (partial results) per request
  int32_t tile_n = 64;  // KV rows per block
  int32_t stages = 2;   // depth of the copy ring
  Wait wait = Wait::kDrain;
  Order order = Order::kBatchMajor;
  int32_t stage1_warps = 0;  // 0: not a knob of this device
  int32_t stage2_tiles = 1;  // ways the 512-wide head dimension is cut in stage 2
  int32_t stage2_warps = 0;  // 0: not a knob of this device
  Schedule schedule = Schedule::kUniform;
  int32_t group_rows = 16;  // query rows of a row group (row_group.h): they share one walk over KV

  bool operator==(const KernelConfig& other) const;
  bool operator!=(const KernelConfig& other) const { return !(*this == other); }
  bool operator<(const KernelConfig& other) const;  // lexicographic in knob order
};

// The kernel family a configuration belongs to. Stored with each candidate beside the parameters;
// a database row that names another variant is skipped with a reason.
inline constexpr std::string_view kVariantBh16 = "bh16";

// Reflection over the knobs, in text order. The one table behind text, database columns, JSON,
// spaces and command line.
enum class Knob : int32_t {
  kSplits,
  kTileN,
  kStages,
  kWait,
  kOrder,
  kStage1Warps,
  kStage2Tiles,
  kStage2Warps,
  kSchedule,
  kGroupRows,
};
inline constexpr int kKnobCount = 10;
inline constexpr std::array<Knob, kKnobCount> kKnobs = {Knob::kSplits,
                                                        Knob::kTileN,
                                                        Knob::kStages,
                                                        Knob::kWait,
                                                        Knob::kOrder,
                                                        Knob::kStage1Warps,
                                                        Knob::kStage2Tiles,
                                                        Knob::kStage2Warps,
                                                        Knob::kSchedule,
                                                        Knob::kGroupRows};

std::string_view name(Knob knob);
std::string_view name(Wait wait);
std::string_view name(Order order);
std::string_view name(Schedule schedule);
bool parse_knob(std::string_view text, Knob* knob);

int32_t get(const KernelConfig& config, Knob knob);
void set(KernelConfig* config, Knob knob, int32_t value);

// Whether the values of a knob are names rather than numbers.
bool is_named(Knob knob);
// Whether texts leave the knob out at this value.
bool is_left_out(Knob knob, int32_t value);

// "partial" for (kWait, 1), "64" for (kTileN, 64).
std::string value_text(Knob knob, int32_t value);
// Throws Error(kUsage) naming the knob.
int32_t parse_value(Knob knob, std::string_view text);

// Every knob that is not left out. Equal configurations have equal texts.
std::string to_text(const KernelConfig& config);

// Accepts knobs in any order, each at most once, on top of `base`. Throws Error(kUsage).
KernelConfig parse_config(std::string_view text, const KernelConfig& base = {});

}  // namespace mla

template <>
struct std::hash<mla::KernelConfig> {
  size_t operator()(const mla::KernelConfig& config) const noexcept;
};

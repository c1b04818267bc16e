// SPDX-License-Identifier: MIT
// The default policy: what a missing or unreadable database answers, and the baseline that every
// winner has to beat. Uses only what never lost in published data, and on devices with measured
// costs (space.h) what these add.
//
//   group_rows    of those that have kernels for the dtype, the fewest that hold a request's
//                 q_len x nhead query rows, else the most; with costs those of the shortest time
//                 among these and narrower ones
//   splits        max(1, CUs / (batch x ceil(q_len x nhead / group_rows))); with costs those
//                 of the shortest time (default_splits.h)
//   order         batch-major
//   stage2_tiles  doubling while batch x nhead x q_len x tiles < CUs, up to 8; with costs while
//                 that is less than a share of the CUs, or leaves some idle and many splits
//   stage2_warps  the neutral count, divided by the tiles where the space says so; with costs so
//                 many that they fill the device, about one a split
//   the rest      what the device's space names as neutral for these group rows and the dtype; of
//                 fp8 rows, with costs, also by the work of a step
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/space.h"
#include "policy/default_splits.h"

namespace mla::policy {

// The largest of `values` (ascending, not empty) that is at most `value`; the smallest where none
// is.
int32_t lowered_to(const std::vector<int32_t>& values, int64_t value);

class DefaultPolicy {
 public:
  explicit DefaultPolicy(const Space& space);

  // A few divisions, with costs a few dozen for each width of row groups; no allocation, no throw,
  // any thread. Every value is legal in the space for a valid problem: a formula's value that is
  // not is lowered to the next legal one. Of seq_len 0 the length is unknown.
  KernelConfig operator()(const Problem& problem) const noexcept;

  // Problems with the same key have the same answer. Not 0.
  static uint64_t alike(const Problem& problem) noexcept;

  // What is answered where only the widest row groups and one wave are known: but for the splits
  // and stage 2 it goes by neither the batch nor, where that is unknown, the length.
  KernelConfig without_costs(const Problem& problem) const noexcept;
  // The answer in each width of row groups that the rule chooses among, ascending.
  std::vector<KernelConfig> of_each_width(const Problem& problem) const;

  // No less than the splits of a problem that differs in the length alone.
  int32_t most_splits(const Problem& problem) const noexcept;

  // `config` with stage 2 cut as finely as the rule ever does, whatever the occupancy, and the
  // warps that go with it.
  KernelConfig finest_stage2(KernelConfig config) const noexcept;

 private:
  struct Stage2 {
    int32_t tiles = 1;
    int32_t warps = 0;
  };

  struct Timed {
    KernelConfig config;
    double time_us = 0;  // by the model
  };

  bool has_model() const noexcept { return !costs_.kernels.empty(); }
  size_t widest(const Problem& problem) const noexcept;
  const KernelConfig& neutral(const Problem& problem, size_t width) const noexcept;
  int64_t filling_splits(const Problem& problem, const KernelConfig& config) const noexcept;
  SplitShape split_shape(const Problem& problem, const DefaultCosts::Kernel& kernel) const noexcept;
  Stage2 stage2(int64_t rows, int64_t splits) const noexcept;  // of query rows of all requests
  void set_stage2(const Problem& problem, KernelConfig* config) const noexcept;
  Timed of_kernel(const Problem& problem, const DefaultCosts::Kernel& kernel) const noexcept;
  Timed of_width(const Problem& problem, size_t width) const noexcept;

  std::array<std::vector<KernelConfig>, 2> neutral_;  // of each dtype; by group rows, ascending
  int64_t compute_units_ = 1;
  std::vector<int32_t> legal_splits_;  // [n]: the largest legal split count that is at most n
  std::array<Stage2, 4> stage2_{};     // [k]: for 2^k tiles by the formula
  std::vector<int32_t> legal_stage2_warps_;
  DefaultCosts costs_;
};

// Named configurations that finals and benches compare with.
// Every lever off: the default's splits, drained, batch-major, untiled stage 2.
KernelConfig drained_baseline(const Space& space, const Problem& problem);
// Every lever on: partial wait, split-major where it is legal, the default's stage-2 tiling.
KernelConfig all_levers(const Space& space, const Problem& problem);

}  // namespace mla::policy

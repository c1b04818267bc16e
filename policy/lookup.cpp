// SPDX-License-Identifier: MIT
#include "policy/lookup.h"

#include <algorithm>

#include "kernels/shape_key.h"
#include "policy/shape_table.h"
#include "policy/table_loader.h"
#include "policy/wave_edge.h"

namespace mla::policy {
namespace {

// What an entry's ruling means for the answer. A source of kDefault: the entry gives no advice.
struct RulingRow {
  Ruling ruling;
  bool advises;  // the answer counts as exact or bucketed
  const char* exact_reason;
  const char* bucket_reason;
};
constexpr RulingRow kRulings[] = {
    {Ruling::kWinner, true, "tuned at this very shape", "tuned at a length of this bucket"},
    {Ruling::kVerifyAgain,
     true,
     "tuned at this very shape in another environment: verify again",
     "tuned at a length of this bucket in another environment: verify again"},
    {Ruling::kDefaultBest, true, "default is best here", "default is best here"},
    {Ruling::kUndecided,
     true,
     "no candidate was certain to beat the default here",
     "no candidate was certain to beat the default here"},
    {Ruling::kDemoted,
     false,
     "demoted: the winner no longer holds here",
     "demoted: the winner of this bucket no longer holds"},
    {Ruling::kFailed,
     false,
     "this shape could not be measured",
     "the tuned lengths of this bucket could not be measured"},
    {Ruling::kDisagree,
     false,
     "tuned rows of this shape disagree",
     "tuned lengths of this bucket disagree"},
};

// The default's answer for the most work items is one split and an untiled stage 2, which needs no
// workspace and is legal for every problem.
Problem largest_problem() {
  Problem problem;
  problem.batch = kMaxBatch;
  problem.nhead = kMaxHeads;
  problem.q_len = kMaxQLen;
  problem.seq_len = kMaxSeqLen;
  return problem;
}

}  // namespace

std::string_view name(Source source) {
  switch (source) {
    case Source::kExact:
      return "exact";
    case Source::kBucketed:
      return "bucketed";
    case Source::kInterpolated:
      return "interpolated";
    case Source::kRobust:
      return "robust";
    case Source::kDefault:
      return "default";
    case Source::kDisabled:
      return "disabled";
  }
  return "unknown";
}

struct LookupTable::Impl {
  Impl(const std::vector<std::string>& database_paths, const Space& device_space)
      : Impl(database_paths, device_space, DefaultPolicy(device_space)) {}

  Impl(const std::vector<std::string>& database_paths,
       const Space& device_space,
       const DefaultPolicy& policy)
      : Impl(database_paths,
             device_space,
             policy,
             load_entries(database_paths, device_space, policy)) {}

  Impl(const std::vector<std::string>& database_paths,
       const Space& device_space,
       const DefaultPolicy& policy,
       LoadedEntries loaded)
      : space(device_space),
        default_policy(policy),
        paths(database_paths),
        table(loaded.entries),
        needs(std::move(loaded.needs)),
        warnings(std::move(loaded.warnings)),
        shapes(loaded.shapes),
        failed_files(loaded.failed_files) {}

  Answer answer(const Problem& problem, const ShapeEntry& entry, Source source) const noexcept;

  Space space;
  DefaultPolicy default_policy;
  std::vector<std::string> paths;
  ShapeTable table;
  std::vector<SplitsNeed> needs;
  std::vector<std::string> warnings;
  int64_t shapes;
  int64_t failed_files;
};

// `source` is kExact or kBucketed: which key found the entry.
Answer LookupTable::Impl::answer(const Problem& problem,
                                 const ShapeEntry& entry,
                                 Source source) const noexcept {
  const bool exact = source == Source::kExact;
  const RulingRow& ruling = kRulings[entry.ruling];
  const bool has_winner = entry.ruling <= static_cast<uint8_t>(Ruling::kVerifyAgain);
  Answer answer;
  answer.reason = exact ? ruling.exact_reason : ruling.bucket_reason;
  answer.config = has_winner ? unpack_config(entry.config) : default_policy(problem);
  if (!ruling.advises) return answer;
  if (!exact && has_winner && past_wave_edge(space.device(), problem, answer.config)) {
    answer.config = default_policy(problem);
    answer.reason = "just past a full wave of workgroups and not measured at this very length";
    return answer;
  }
  answer.source = source;
  answer.gain = entry.gain;
  answer.expected_us = exact ? entry.expected_us : 0;
  answer.winner_id = static_cast<int64_t>(entry.winner_id);
  answer.database_index = static_cast<int32_t>(entry.database);
  answer.database = paths[entry.database].c_str();
  return answer;
}

LookupTable::LookupTable(const std::vector<std::string>& paths, const Space& space)
    : impl_(std::make_unique<Impl>(paths, space)) {}

LookupTable::~LookupTable() = default;

Answer LookupTable::find(const Problem& problem) const noexcept {
  const ShapeKey exact = exact_key(problem);
  if (exact == kNoKey) {
    return default_answer(
        problem, Source::kDefault, problem.seq_len == 0 ? "length unknown" : "shape out of range");
  }
  if (const ShapeEntry* entry = impl_->table.find(exact)) {
    return impl_->answer(problem, *entry, Source::kExact);
  }
  if (const ShapeEntry* entry = impl_->table.find(bucket_key(problem))) {
    return impl_->answer(problem, *entry, Source::kBucketed);
  }
  Answer answer;
  answer.config = impl_->default_policy(problem);
  answer.reason = "shape not tuned";
  return answer;
}

Answer LookupTable::default_answer(const Problem& problem,
                                   Source source,
                                   const char* reason) const noexcept {
  Problem of_known_length = problem;
  if (problem.seq_len == 0) of_known_length.seq_len = kMaxSeqLen;
  Answer answer;
  answer.source = source;
  answer.reason = reason;
  answer.shape_in_range = exact_key(of_known_length) != kNoKey;
  if (!answer.shape_in_range) answer.reason = "shape out of range";
  answer.config = impl_->default_policy(answer.shape_in_range ? problem : largest_problem());
  return answer;
}

int64_t LookupTable::workspace_bound(int32_t batch, int32_t q_len, int32_t nhead) const noexcept {
  int64_t bound = 0;
  for (const SplitsNeed& need : impl_->needs) {
    if (need.batch > batch || need.q_len > q_len || need.nhead > nhead) continue;
    bound = std::max(bound, workspace_bytes(need.batch, need.q_len, need.nhead, need.splits));
  }
  // The default's splits depend on the work items only, and are 1 from one item per CU on: within
  // one count of row groups the most heads need the most workspace.
  const DeviceInfo& device = impl_->space.device();
  const int32_t group_rows = std::max(1, device.group_rows);
  for (int32_t heads = std::min(group_rows, nhead);; heads = std::min(heads + group_rows, nhead)) {
    for (int32_t q = 1; q <= q_len; ++q) {
      for (int32_t b = 1; b <= std::min(batch, device.compute_units); ++b) {
        Problem problem;
        problem.batch = b;
        problem.q_len = q;
        problem.nhead = heads;
        bound =
            std::max(bound, workspace_bytes(b, q, heads, impl_->default_policy(problem).splits));
      }
    }
    if (heads == nhead) return bound;
  }
}

const std::vector<std::string>& LookupTable::warnings() const {
  return impl_->warnings;
}
int64_t LookupTable::failed_files() const {
  return impl_->failed_files;
}
int64_t LookupTable::rows() const {
  return impl_->shapes;
}
const Space& LookupTable::space() const {
  return impl_->space;
}
size_t LookupTable::memory_bytes() const {
  return impl_->table.memory_bytes() + impl_->needs.capacity() * sizeof(SplitsNeed);
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
#include "policy/miss_table.h"

#include <algorithm>
#include <vector>

#include "kernels/shape_key.h"

namespace mla::policy {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Set in the key of a problem whose length is unknown; bucket keys leave the bit clear.
constexpr uint64_t kUnknownLength = uint64_t{1} << 62;

uint64_t miss_key(Problem problem) noexcept {
  if (problem.seq_len != 0) return bucket_key(problem);
  problem.seq_len = kMaxSeqLen;
  return bucket_key(problem) | kUnknownLength;
}

// The batch is the last and never 0.
using ProblemFields = std::array<int32_t, 10>;

ProblemFields to_fields(const Problem& p) noexcept {
  // Without a shared prefix the group means nothing and may hold anything.
  const int32_t group = p.shared_prefix == 0 ? Problem{}.share_group
                                             : std::clamp<int32_t>(p.share_group, 1, kMaxBatch);
  return {p.nhead,
          static_cast<int32_t>(p.seq_len),
          p.q_len,
          static_cast<int32_t>(p.kv_dtype),
          p.page_size,
          static_cast<int32_t>(p.shared_prefix),
          group,
          p.imbalance,
          static_cast<int32_t>(p.pool),
          p.batch};
}

Problem from_fields(const ProblemFields& fields) {
  Problem p;
  p.nhead = fields[0];
  p.seq_len = fields[1];
  p.q_len = fields[2];
  p.kv_dtype = static_cast<KvDtype>(fields[3]);
  p.page_size = fields[4];
  p.shared_prefix = fields[5];
  p.share_group = fields[6];
  p.imbalance = fields[7];
  p.pool = static_cast<PoolClass>(fields[8]);
  p.batch = fields[9];
  return p;
}

struct Miss {
  Problem problem;
  uint64_t count = 0;
  uint64_t time_ns = 0;
};

std::string microseconds(uint64_t time_ns) {
  const std::string fraction = std::to_string(1000 + time_ns % 1000).substr(1);
  return std::to_string(time_ns / 1000) + "." + fraction;
}

}  // namespace

MissTable::Entry* MissTable::find(uint64_t key, bool* claimed) noexcept {
  const size_t home = key * 0x9E3779B97F4A7C15ull >> 54;
  static_assert(kEntries == 1024, "the shift leaves 10 bits");
  for (size_t probe = 0; probe < kMostProbes; ++probe) {
    Entry& entry = entries_[(home + probe) % kEntries];
    uint64_t held = entry.key.load(kRelaxed);
    if (held == key) return &entry;
    if (held != 0) continue;
    if (claimed == nullptr) return nullptr;
    *claimed = entry.key.compare_exchange_strong(held, key, kRelaxed);
    if (*claimed || held == key) return &entry;
  }
  return nullptr;
}

void MissTable::count(const Problem& problem) noexcept {
  bool claimed = false;
  Entry* const entry = find(miss_key(problem), &claimed);
  if (entry == nullptr) {
    forgotten_.fetch_add(1, kRelaxed);
    return;
  }
  entry->count.fetch_add(1, kRelaxed);
  if (!claimed) return;
  const ProblemFields fields = to_fields(problem);
  for (size_t i = 0; i + 1 < fields.size(); ++i) entry->fields[i].store(fields[i], kRelaxed);
  entry->fields.back().store(fields.back(), std::memory_order_release);
}

void MissTable::report(const Problem& problem, double time_us) noexcept {
  const auto time_ns = static_cast<uint64_t>(time_us * 1000);
  all_time_ns_.fetch_add(time_ns, kRelaxed);
  if (Entry* const entry = find(miss_key(problem), nullptr)) {
    entry->time_ns.fetch_add(time_ns, kRelaxed);
  }
}

std::string MissTable::text() const {
  std::vector<Miss> misses;
  for (const Entry& entry : entries_) {
    ProblemFields fields;
    fields.back() = entry.fields.back().load(std::memory_order_acquire);
    if (fields.back() == 0) continue;
    for (size_t i = 0; i + 1 < fields.size(); ++i) fields[i] = entry.fields[i].load(kRelaxed);
    Miss& miss = misses.emplace_back();
    miss.problem = from_fields(fields);
    miss.count = entry.count.load(kRelaxed);
    miss.time_ns = entry.time_ns.load(kRelaxed);
  }
  std::sort(misses.begin(), misses.end(), [](const Miss& a, const Miss& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.count > b.count;
  });
  std::string text =
      "# mla-tune misses 1: all_time_us=" + microseconds(all_time_ns_.load(kRelaxed)) +
      " forgotten=" + std::to_string(forgotten_.load(kRelaxed)) + "\n";
  for (const Miss& miss : misses) {
    text += std::to_string(miss.count) + "\t" + microseconds(miss.time_ns) + "\t" +
            to_text(miss.problem) + "\n";
  }
  return text;
}

}  // namespace mla::policy

// SPDX-License-Identifier: MIT
// The C++ side of the run-time lookup, shared by the C ABI (mla_policy.h) and `mla-tune lookup`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/space.h"
#include "policy/default_policy.h"

namespace mla::policy {

// Names reach JSON and the C ABI.
enum class Source : int32_t {
  kExact = 0,         // this very shape was tuned
  kBucketed = 1,      // a tuned shape of the same length bucket
  kInterpolated = 2,  // between two tuned shapes
  kRobust = 3,        // unknown length
  kDefault = 4,       // the default policy
  kDisabled = 5,      // lookups are switched off
};
std::string_view name(Source source);

struct Answer {
  KernelConfig config;
  Source source = Source::kDefault;
  const char* reason = "";   // static text
  float gain = 0;            // over the default at tuning time; 0 unknown
  float expected_us = 0;     // 0 unknown; only for exact answers
  int64_t winner_id = 0;     // 0: none
  const char* database = ""; // path of the file that answered, valid while the table lives
};

// An immutable table: loaded once, then read by any number of threads.
class LookupTable {
 public:
  // Loads the databases in order; a later file's rows win over an earlier one's (overlay). A file that
  // cannot be used adds a line to warnings() and the rest still works. Never throws for bad files.
  LookupTable(const std::vector<std::string>& paths, const Space& space);
  ~LookupTable();
  LookupTable(const LookupTable&) = delete;
  LookupTable& operator=(const LookupTable&) = delete;

  // No throw, no allocation, no lock, no file, no device call.
  Answer find(const Problem& problem) const noexcept;

  const std::vector<std::string>& warnings() const;
  int64_t rows() const;
  size_t memory_bytes() const;
  const Space& space() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mla::policy

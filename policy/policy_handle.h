// SPDX-License-Identifier: MIT
// What stands behind the handle of mla_policy.h.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "policy/lookup.h"
#include "policy/miss_table.h"
#include "policy/mla_policy.h"
#include "policy/override.h"
#include "policy/reader_slots.h"
#include "policy/settings.h"

namespace mla::policy {
// A counter for each source, and one for rejected plans.
using Slots = ReaderSlots<LookupTable, MLA_SOURCE_COUNT + 1>;
static_assert(sizeof(Slots::Slot) == 64, "announcement and counters share one cache line");
}  // namespace mla::policy

struct mla_policy {
  mla_policy(mla::policy::Settings from, const mla::Space& device_space);

  // The rest of the functions is called with the mutex held, or before anybody else has the handle.

  // Reads the files into a new table; the old one stays where `keep_on_failure` and one of them
  // cannot be used. Returns MLA_OK or MLA_ERROR_DATABASE.
  mla_status load(bool keep_on_failure);
  mla_status set_mode(mla_mode mode);
  // Empty: nothing is pinned any more. Throws Error(kUsage), and nothing changes.
  void set_pin(const std::string& knobs);
  mla_status database_status() const;
  std::string status_text() const;
  uint64_t fingerprint() const;

  // Read by plans.
  mla::policy::Slots slots;
  std::atomic<const mla::policy::LookupTable*> current{nullptr};
  std::atomic<const mla::policy::Override*> held{nullptr};  // null: lookups answer
  mla::policy::ShapeTable::Place place;
  mla::policy::MissTable misses;
  const mla::Space space;
  const mla::policy::LookupTable untuned;  // never replaced, so that it can be asked without a slot

  std::mutex mutex;  // guards what follows; never taken by a plan
  const mla::policy::Settings settings;
  std::unique_ptr<const mla::policy::LookupTable> table;
  std::string reload_warning, pin_warning;

 private:
  void publish(std::unique_ptr<const mla::policy::LookupTable> fresh);
  void choose_override();
  const mla::policy::Override* keep(mla::policy::Override made);

  mla_mode mode_;
  const mla::policy::Override* pinned_ = nullptr;
  bool loaded_ = false;
  // A plan may still read one that was replaced, so they stay; equal ones are made once.
  std::vector<std::unique_ptr<const mla::policy::Override>> overrides_;
};

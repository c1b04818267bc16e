// SPDX-License-Identifier: MIT
#include "policy/policy_handle.h"

#include <algorithm>

#include "kernels/error.h"
#include "policy/fingerprint.h"

using mla::policy::LookupTable;
using mla::policy::Override;

mla_policy::mla_policy(mla::policy::Settings from, const mla::Space& device_space)
    : space(device_space), untuned({}, space), settings(std::move(from)), mode_(settings.mode) {
  publish(std::make_unique<const LookupTable>(std::vector<std::string>{}, space));
  if (mode_ == MLA_MODE_LOOKUP) load(false);
  if (!settings.pin.empty()) {
    try {
      set_pin(settings.pin);
    } catch (const mla::Error& error) {
      pin_warning = std::string("MLA_TUNE_PIN: ") + error.what() + ": nothing is pinned";
    }
  }
  choose_override();
}

// Makes `fresh` the table of all later plans and frees the old one when no plan uses it any more.
void mla_policy::publish(std::unique_ptr<const LookupTable> fresh) {
  place.set(fresh->table());
  current.store(fresh.get(), std::memory_order_seq_cst);
  if (table != nullptr) slots.wait_until_unused(table.get());
  table = std::move(fresh);
}

mla_status mla_policy::load(bool keep_on_failure) {
  auto fresh = std::make_unique<const LookupTable>(settings.paths, space);
  if (keep_on_failure && fresh->failed_files() > 0) {
    reload_warning = "reload: " + fresh->warnings().front() + "; the old table stays";
    return MLA_ERROR_DATABASE;
  }
  reload_warning.clear();
  publish(std::move(fresh));
  loaded_ = true;
  return database_status();
}

mla_status mla_policy::set_mode(mla_mode mode) {
  // Switched off from the start, the files have not been touched yet.
  if (mode == MLA_MODE_LOOKUP && !loaded_) load(false);
  mode_ = mode;
  choose_override();
  return mode == MLA_MODE_LOOKUP ? database_status() : MLA_OK;
}

void mla_policy::set_pin(const std::string& knobs) {
  pinned_ = knobs.empty() ? nullptr : keep(Override::pin(knobs, space));
  pin_warning.clear();
  choose_override();
}

void mla_policy::choose_override() {
  const Override* chosen = pinned_;
  if (mode_ == MLA_MODE_OFF) {
    chosen = keep(Override::off());
  } else if (chosen == nullptr && mode_ == MLA_MODE_DETERMINISTIC) {
    chosen = keep(Override::deterministic(space));
  }
  held.store(chosen, std::memory_order_release);
}

const Override* mla_policy::keep(Override made) {
  const auto same = std::find_if(overrides_.begin(), overrides_.end(), [&](const auto& kept) {
    return kept->text() == made.text();
  });
  if (same != overrides_.end()) return same->get();
  overrides_.push_back(std::make_unique<const Override>(std::move(made)));
  return overrides_.back().get();
}

mla_status mla_policy::database_status() const {
  if (!loaded_) return MLA_OK;
  const bool usable = table->failed_files() == 0 && !settings.paths.empty();
  return usable ? MLA_OK : MLA_ERROR_DATABASE;
}

std::string mla_policy::status_text() const {
  const Override* const chosen = held.load(std::memory_order_relaxed);
  std::string text = chosen != nullptr ? chosen->text()
                                       : std::to_string(table->rows()) + " tuned shapes for " +
                                             mla::device_key(space.device());
  const auto warn = [&text](const std::string& warning) {
    if (!warning.empty()) text += "\nwarning: " + warning;
  };
  for (const std::string& warning : settings.warnings) warn(warning);
  for (const std::string& warning : table->warnings()) warn(warning);
  warn(reload_warning);
  warn(pin_warning);
  return text;
}

uint64_t mla_policy::fingerprint() const {
  const Override* const chosen = held.load(std::memory_order_relaxed);
  mla::policy::Fingerprint fingerprint;
  fingerprint.add(mla::device_key(space.device()));
  if (chosen != nullptr) {
    fingerprint.add(chosen->text());
  } else {
    fingerprint.add(table->fingerprint());
  }
  return fingerprint.value();
}

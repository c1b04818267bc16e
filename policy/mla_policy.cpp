// SPDX-License-Identifier: MIT
// The C ABI over LookupTable. No exception leaves this file.
#include "policy/mla_policy.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "kernels/spaces.h"
#include "policy/abi_structs.h"
#include "policy/lookup.h"
#include "policy/reader_slots.h"

using mla::Problem;
using mla::policy::Answer;
using mla::policy::LookupTable;
using mla::policy::read_device;
using mla::policy::read_shape;
using mla::policy::Source;
using mla::policy::write_no_plan;
using mla::policy::write_plan;

namespace {

constexpr size_t kRejected = MLA_SOURCE_COUNT;
using Slots = mla::policy::ReaderSlots<LookupTable, MLA_SOURCE_COUNT + 1>;
static_assert(sizeof(Slots::Slot) == 64, "announcement and counters share one cache line");

// What the environment says, read once when a policy is opened.
struct Settings {
  std::vector<std::string> paths;
  bool enabled = true;
  std::vector<std::string> warnings;
};

}  // namespace

struct mla_policy {
  mla_policy(Settings from, const mla::Space& device_space)
      : settings(std::move(from)), space(device_space), untuned({}, space) {
    publish(std::make_unique<const LookupTable>(settings.paths, space));
  }

  // Makes `fresh` the table of all later plans and frees the old one when no plan uses it any more.
  void publish(std::unique_ptr<const LookupTable> fresh) {
    place.set(fresh->table());
    current.store(fresh.get(), std::memory_order_seq_cst);
    if (table != nullptr) slots.wait_until_unused(table.get());
    table = std::move(fresh);
  }

  Slots slots;
  std::atomic<const LookupTable*> current{nullptr};
  mla::policy::ShapeTable::Place place;
  const Settings settings;
  const mla::Space space;
  const LookupTable untuned;  // never replaced, so that it can be asked without a slot
  std::mutex mutex;           // guards what follows; never taken by a plan
  std::unique_ptr<const LookupTable> table;
  std::string reload_warning;
};

namespace {

std::vector<std::string> split_paths(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

Settings read_settings(const char* const* paths, size_t path_count) {
  Settings settings;
  const char* const mode = std::getenv("MLA_TUNE_MODE");
  const std::string_view mode_text = mode == nullptr ? "" : mode;
  settings.enabled = mode_text != "off";
  if (settings.enabled && !mode_text.empty() && mode_text != "lookup") {
    settings.warnings.push_back("MLA_TUNE_MODE=" + std::string(mode_text) +
                                " is not known (lookup, off): lookups stay on");
  }
  if (!settings.enabled) return settings;

  if (paths == nullptr) {
    const char* const list = std::getenv("MLA_TUNE_DB");
    settings.paths = split_paths(list == nullptr ? "" : list);
  } else {
    for (size_t i = 0; i < path_count; ++i) {
      settings.paths.emplace_back(paths[i] == nullptr ? "" : paths[i]);
    }
  }
  if (settings.paths.empty()) {
    settings.warnings.push_back(
        "no database given (an argument, or MLA_TUNE_DB): every answer is the default");
  }
  return settings;
}

mla_status status_of(const mla_policy& policy) {
  const bool unusable = policy.table->failed_files() > 0 || policy.settings.paths.empty();
  return policy.settings.enabled && unusable ? MLA_ERROR_DATABASE : MLA_OK;
}

std::string status_text(const mla_policy& policy) {
  std::string text = policy.settings.enabled
                         ? std::to_string(policy.table->rows()) + " tuned shapes for " +
                               mla::device_key(policy.space.device())
                         : "lookups are switched off (MLA_TUNE_MODE=off)";
  const auto warn = [&text](const std::string& warning) { text += "\nwarning: " + warning; };
  for (const std::string& warning : policy.settings.warnings) warn(warning);
  for (const std::string& warning : policy.table->warnings()) warn(warning);
  if (!policy.reload_warning.empty()) warn(policy.reload_warning);
  return text;
}

}  // namespace

uint32_t mla_policy_version(void) {
  return MLA_POLICY_VERSION_MAJOR * 10000 + MLA_POLICY_VERSION_MINOR * 100 +
         MLA_POLICY_VERSION_PATCH;
}

mla_status mla_policy_open(const char* const* paths,
                           size_t path_count,
                           const mla_device_desc* device,
                           mla_policy** policy) try {
  if (policy == nullptr) return MLA_ERROR_USAGE;
  *policy = nullptr;
  mla::DeviceInfo info;
  if (!read_device(device, &info)) return MLA_ERROR_DEVICE;
  auto opened =
      std::make_unique<mla_policy>(read_settings(paths, path_count), mla::make_space(info));
  const mla_status status = status_of(*opened);
  *policy = opened.release();
  return status;
} catch (const std::exception&) {
  return MLA_ERROR_INTERNAL;
}

mla_status mla_policy_plan(mla_policy* policy, const mla_shape* shape, mla_plan* plan) {
  if (plan == nullptr || plan->struct_size < sizeof(mla_plan)) return MLA_ERROR_USAGE;
  if (policy == nullptr) {
    write_no_plan(plan);
    plan->reason = "no policy";
    return MLA_ERROR_USAGE;
  }
  const Problem problem = read_shape(shape);
  // Acquiring a slot is a full barrier, so the table's cache line is asked for before it.
  const mla::ShapeKey key = mla::exact_key(problem);
  policy->place.prefetch(key);
  const LookupTable* table = nullptr;
  Slots::Slot* const slot = policy->slots.acquire(policy->current, &table);
  Answer answer;
  if (slot == nullptr) {
    answer = policy->untuned.default_answer(
        problem, Source::kDefault, "more threads at once than there are reader slots");
  } else {
    answer = policy->settings.enabled
                 ? table->find(problem, key)
                 : table->default_answer(problem, Source::kDisabled, "lookups are switched off");
    slot->count(answer.shape_in_range ? static_cast<size_t>(answer.source) : kRejected);
    Slots::release(slot);
  }
  write_plan(problem, answer, plan);
  return answer.shape_in_range ? MLA_OK : MLA_ERROR_USAGE;
}

mla_status mla_policy_workspace_bound(mla_policy* policy, const mla_shape* shape, int64_t* bytes) {
  if (bytes == nullptr) return MLA_ERROR_USAGE;
  *bytes = 0;
  if (policy == nullptr || shape == nullptr) return MLA_ERROR_USAGE;
  if (shape->struct_size < sizeof(mla_shape)) return MLA_ERROR_USAGE;
  const bool in_range = shape->batch >= 1 && shape->batch <= mla::kMaxBatch && shape->nhead >= 1 &&
                        shape->nhead <= mla::kMaxHeads && shape->q_len >= 1 &&
                        shape->q_len <= mla::kMaxQLen;
  if (!in_range) return MLA_ERROR_USAGE;
  const std::lock_guard lock(policy->mutex);
  *bytes = policy->table->workspace_bound(shape->batch, shape->q_len, shape->nhead);
  return MLA_OK;
}

mla_status mla_policy_reload(mla_policy* policy) try {
  if (policy == nullptr) return MLA_ERROR_USAGE;
  const std::lock_guard lock(policy->mutex);
  auto fresh = std::make_unique<const LookupTable>(policy->settings.paths, policy->space);
  if (fresh->failed_files() > 0) {
    policy->reload_warning = "reload: " + fresh->warnings().front() + "; the old table stays";
    return MLA_ERROR_DATABASE;
  }
  policy->reload_warning.clear();
  policy->publish(std::move(fresh));
  return status_of(*policy);
} catch (const std::exception&) {
  return MLA_ERROR_INTERNAL;
}

void mla_policy_close(mla_policy* policy) {
  delete policy;
}

size_t mla_policy_status_text(mla_policy* policy, char* buffer, size_t size) try {
  std::string text = "no policy";
  if (policy != nullptr) {
    const std::lock_guard lock(policy->mutex);
    text = status_text(*policy);
  }
  if (buffer != nullptr && size > 0) {
    const size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size() + 1;
} catch (const std::exception&) {
  if (buffer != nullptr && size > 0) buffer[0] = '\0';
  return 1;
}

mla_status mla_policy_counts(mla_policy* policy, mla_counts* counts) {
  if (policy == nullptr || counts == nullptr) return MLA_ERROR_USAGE;
  if (counts->struct_size < sizeof(mla_counts)) return MLA_ERROR_USAGE;
  for (size_t i = 0; i < MLA_SOURCE_COUNT; ++i) counts->by_source[i] = policy->slots.sum(i);
  counts->rejected = policy->slots.sum(kRejected);
  return MLA_OK;
}

mla_status mla_policy_table_size(mla_policy* policy, int64_t* shapes, int64_t* bytes) {
  if (policy == nullptr) return MLA_ERROR_USAGE;
  const std::lock_guard lock(policy->mutex);
  if (shapes != nullptr) *shapes = policy->table->rows();
  if (bytes != nullptr) *bytes = static_cast<int64_t>(policy->table->memory_bytes());
  return MLA_OK;
}

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
#include "policy/lookup.h"
#include "policy/reader_slots.h"

using mla::Problem;
using mla::policy::Answer;
using mla::policy::LookupTable;
using mla::policy::Source;

static_assert(mla::policy::kSourceCount == MLA_SOURCE_COUNT);
static_assert(sizeof(mla_device_desc) == 40 && sizeof(mla_shape) == 56 && sizeof(mla_plan) == 88);

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
      : settings(std::move(from)), space(device_space) {
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
  std::mutex mutex;  // guards what follows; never taken by a plan
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

bool read_device(const mla_device_desc* desc, mla::DeviceInfo* device) {
  if (desc == nullptr || desc->struct_size < sizeof(mla_device_desc)) return false;
  if (desc->arch == nullptr || desc->arch[0] == '\0') return false;
  if (desc->compute_units < 1 || desc->xcds < 0 || desc->group_rows < 0) return false;
  if (desc->local_memory_bytes < 0) return false;
  device->arch = desc->arch;
  device->partition = desc->partition == nullptr ? "" : desc->partition;
  device->compute_units = desc->compute_units;
  device->xcds = std::max(1, desc->xcds);
  if (desc->group_rows > 0) device->group_rows = desc->group_rows;
  device->local_memory_bytes = desc->local_memory_bytes;
  return true;
}

// A shape that cannot be read becomes a problem that no range check passes.
Problem read_shape(const mla_shape* shape) noexcept {
  Problem problem;
  if (shape == nullptr || shape->struct_size < sizeof(mla_shape)) {
    problem.batch = 0;
    return problem;
  }
  problem.batch = shape->batch;
  problem.nhead = shape->nhead;
  problem.seq_len = shape->seq_len;
  problem.q_len = shape->q_len;
  problem.kv_dtype = static_cast<mla::KvDtype>(shape->kv_dtype);
  problem.page_size = shape->page_size;
  problem.shared_prefix = shape->shared_prefix;
  problem.share_group = shape->share_group;
  problem.imbalance = shape->imbalance;
  problem.pool = static_cast<mla::PoolClass>(shape->large_pool);
  return problem;
}

void write_plan(const Problem& problem, const Answer& answer, mla_plan* plan) noexcept {
  const mla::KernelConfig& config = answer.config;
  plan->splits = config.splits;
  plan->tile_n = config.tile_n;
  plan->stages = config.stages;
  plan->wait = static_cast<int32_t>(config.wait);
  plan->order = static_cast<int32_t>(config.order);
  plan->stage1_warps = config.stage1_warps;
  plan->stage2_tiles = config.stage2_tiles;
  plan->stage2_warps = config.stage2_warps;
  plan->source = static_cast<int32_t>(answer.source);
  plan->database = answer.database_index;
  plan->gain = answer.gain;
  plan->expected_us = answer.expected_us;
  plan->reserved = 0;
  plan->source_name = mla::policy::kSourceNames[plan->source];
  plan->reason = answer.reason;
  plan->workspace_bytes =
      mla::workspace_bytes(problem.batch, problem.q_len, problem.nhead, config.splits);
  plan->winner_id = answer.winner_id;
}

void write_no_plan(mla_plan* plan) noexcept {
  *plan = mla_plan{};
  plan->struct_size = sizeof *plan;
  plan->source = MLA_SOURCE_DEFAULT;
  plan->database = -1;
  plan->source_name = mla::policy::kSourceNames[MLA_SOURCE_DEFAULT];
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
  if (slot == nullptr) {
    write_no_plan(plan);
    plan->reason = "more threads at once than there are reader slots";
    return MLA_ERROR_INTERNAL;
  }
  const Answer answer =
      policy->settings.enabled
          ? table->find(problem, key)
          : table->default_answer(problem, Source::kDisabled, "lookups are switched off");
  slot->count(answer.shape_in_range ? static_cast<size_t>(answer.source) : kRejected);
  Slots::release(slot);
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

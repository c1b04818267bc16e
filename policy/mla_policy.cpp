// SPDX-License-Identifier: MIT
// The C ABI over LookupTable. No exception leaves this file.
#include "policy/mla_policy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "kernels/error.h"
#include "kernels/spaces.h"
#include "policy/abi_structs.h"
#include "policy/policy_handle.h"

using mla::Problem;
using mla::policy::Answer;
using mla::policy::LookupTable;
using mla::policy::Override;
using mla::policy::read_device;
using mla::policy::read_shape;
using mla::policy::Slots;
using mla::policy::Source;
using mla::policy::write_no_plan;
using mla::policy::write_plan;

namespace {

constexpr size_t kRejected = MLA_SOURCE_COUNT;
// Of one step; above it a time is a mistake, and sums of such could overflow.
constexpr double kMaxStepUs = 1e12;

// With `size` 0 or a null buffer nothing is copied. Returns the bytes that the text needs.
size_t copy_text(const std::string& text, char* buffer, size_t size) {
  if (buffer != nullptr && size > 0) {
    const size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size() + 1;
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
  auto opened = std::make_unique<mla_policy>(mla::policy::read_settings(paths, path_count),
                                             mla::make_space(info));
  const mla_status status = opened->database_status();
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
    const Override* const held = policy->held.load(std::memory_order_acquire);
    answer = held == nullptr ? table->find(problem, key) : held->answer(problem, policy->untuned);
    slot->count(answer.shape_in_range ? static_cast<size_t>(answer.source) : kRejected);
    Slots::release(slot);
    const bool missed = answer.source == Source::kDefault && answer.shape_in_range;
    if (missed) policy->misses.count(problem);
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
  const int64_t looked_up =
      policy->table->workspace_bound(shape->batch, shape->q_len, shape->nhead);
  const Override* const held = policy->held.load(std::memory_order_relaxed);
  const int32_t splits = held == nullptr ? 0 : held->splits();
  *bytes =
      std::max(looked_up, mla::workspace_bytes(shape->batch, shape->q_len, shape->nhead, splits));
  return MLA_OK;
}

mla_status mla_policy_reload(mla_policy* policy) try {
  if (policy == nullptr) return MLA_ERROR_USAGE;
  const std::lock_guard lock(policy->mutex);
  return policy->load(true);
} catch (const std::exception&) {
  return MLA_ERROR_INTERNAL;
}

mla_status mla_policy_set_mode(mla_policy* policy, int32_t mode) try {
  if (policy == nullptr || mode < MLA_MODE_LOOKUP || mode > MLA_MODE_DETERMINISTIC) {
    return MLA_ERROR_USAGE;
  }
  const std::lock_guard lock(policy->mutex);
  return policy->set_mode(static_cast<mla_mode>(mode));
} catch (const std::exception&) {
  return MLA_ERROR_INTERNAL;
}

mla_status mla_policy_pin(mla_policy* policy, const char* knobs) try {
  if (policy == nullptr) return MLA_ERROR_USAGE;
  const std::lock_guard lock(policy->mutex);
  try {
    policy->set_pin(knobs == nullptr ? "" : knobs);
    return MLA_OK;
  } catch (const mla::Error& error) {
    policy->pin_warning = std::string("pin: ") + error.what() + "; nothing changed";
    return MLA_ERROR_USAGE;
  }
} catch (const std::exception&) {
  return MLA_ERROR_INTERNAL;
}

void mla_policy_close(mla_policy* policy) {
  delete policy;
}

size_t mla_policy_status_text(mla_policy* policy, char* buffer, size_t size) try {
  if (policy == nullptr) return copy_text("no policy", buffer, size);
  const std::lock_guard lock(policy->mutex);
  return copy_text(policy->status_text(), buffer, size);
} catch (const std::exception&) {
  return copy_text("", buffer, size);
}

uint64_t mla_policy_fingerprint(mla_policy* policy) try {
  if (policy == nullptr) return 0;
  const std::lock_guard lock(policy->mutex);
  return policy->fingerprint();
} catch (const std::exception&) {
  return 0;
}

mla_status mla_policy_report(mla_policy* policy, const mla_shape* shape, double time_us) {
  if (policy == nullptr || !(time_us >= 0 && time_us <= kMaxStepUs)) return MLA_ERROR_USAGE;
  const Problem problem = read_shape(shape);
  if (!LookupTable::in_range(problem)) return MLA_ERROR_USAGE;
  policy->misses.report(problem, time_us);
  return MLA_OK;
}

size_t mla_policy_misses(mla_policy* policy, char* buffer, size_t size) try {
  return copy_text(policy == nullptr ? "" : policy->misses.text(), buffer, size);
} catch (const std::exception&) {
  return copy_text("", buffer, size);
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

// SPDX-License-Identifier: MIT
#include "kernels/config.h"

#include <algorithm>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla {
namespace {

constexpr std::array<std::string_view, kKnobCount> kNames = {"splits",
                                                             "tile_n",
                                                             "stages",
                                                             "wait",
                                                             "order",
                                                             "stage1_warps",
                                                             "stage2_tiles",
                                                             "stage2_warps",
                                                             "schedule",
                                                             "group_rows"};
constexpr std::array<std::string_view, 2> kWaits = {"drain", "partial"};
constexpr std::array<std::string_view, 2> kOrders = {"batch_major", "split_major"};
constexpr std::array<std::string_view, 2> kSchedules = {"uniform", "persistent"};

[[noreturn]] void bad(const std::string& text) {
  throw Error(ErrorCode::kUsage, text);
}

std::array<int32_t, kKnobCount> values(const KernelConfig& config) {
  std::array<int32_t, kKnobCount> result{};
  for (const Knob knob : kKnobs) result[static_cast<size_t>(knob)] = get(config, knob);
  return result;
}

// Enumerators by name; null for a knob with numeric values.
const std::array<std::string_view, 2>* enumerators(Knob knob) {
  if (knob == Knob::kWait) return &kWaits;
  if (knob == Knob::kOrder) return &kOrders;
  if (knob == Knob::kSchedule) return &kSchedules;
  return nullptr;
}

bool has_absent_value(Knob knob) {
  return knob == Knob::kStage1Warps || knob == Knob::kStage2Warps;
}

}  // namespace

std::string_view name(Knob knob) {
  return kNames[static_cast<size_t>(knob)];
}
std::string_view name(Wait wait) {
  return kWaits[static_cast<size_t>(wait)];
}
std::string_view name(Order order) {
  return kOrders[static_cast<size_t>(order)];
}
std::string_view name(Schedule schedule) {
  return kSchedules[static_cast<size_t>(schedule)];
}

bool parse_knob(std::string_view text, Knob* knob) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return false;
  *knob = static_cast<Knob>(found - kNames.begin());
  return true;
}

int32_t get(const KernelConfig& config, Knob knob) {
  switch (knob) {
    case Knob::kSplits:
      return config.splits;
    case Knob::kTileN:
      return config.tile_n;
    case Knob::kStages:
      return config.stages;
    case Knob::kWait:
      return static_cast<int32_t>(config.wait);
    case Knob::kOrder:
      return static_cast<int32_t>(config.order);
    case Knob::kStage1Warps:
      return config.stage1_warps;
    case Knob::kStage2Tiles:
      return config.stage2_tiles;
    case Knob::kStage2Warps:
      return config.stage2_warps;
    case Knob::kSchedule:
      return static_cast<int32_t>(config.schedule);
    case Knob::kGroupRows:
      return config.group_rows;
  }
  return 0;
}

void set(KernelConfig* config, Knob knob, int32_t value) {
  switch (knob) {
    case Knob::kSplits:
      config->splits = value;
      break;
    case Knob::kTileN:
      config->tile_n = value;
      break;
    case Knob::kStages:
      config->stages = value;
      break;
    case Knob::kWait:
      config->wait = static_cast<Wait>(value);
      break;
    case Knob::kOrder:
      config->order = static_cast<Order>(value);
      break;
    case Knob::kStage1Warps:
      config->stage1_warps = value;
      break;
    case Knob::kStage2Tiles:
      config->stage2_tiles = value;
      break;
    case Knob::kStage2Warps:
      config->stage2_warps = value;
      break;
    case Knob::kSchedule:
      config->schedule = static_cast<Schedule>(value);
      break;
    case Knob::kGroupRows:
      config->group_rows = value;
      break;
  }
}

bool is_named(Knob knob) {
  return enumerators(knob) != nullptr;
}

bool is_left_out(Knob knob, int32_t value) {
  if (knob == Knob::kGroupRows) return value == KernelConfig{}.group_rows;
  return value == 0 && (has_absent_value(knob) || knob == Knob::kSchedule);
}

bool KernelConfig::operator==(const KernelConfig& other) const {
  return values(*this) == values(other);
}

bool KernelConfig::operator<(const KernelConfig& other) const {
  return values(*this) < values(other);
}

std::string value_text(Knob knob, int32_t value) {
  const auto* names = enumerators(knob);
  if (names == nullptr) return std::to_string(value);
  if (value < 0 || value >= static_cast<int32_t>(names->size()))
    return std::string("?").append(std::to_string(value));
  return std::string((*names)[static_cast<size_t>(value)]);
}

int32_t parse_value(Knob knob, std::string_view text) {
  if (const auto* names = enumerators(knob)) {
    const auto found = std::find(names->begin(), names->end(), text);
    if (found == names->end()) {
      bad(std::string(name(knob)) + ": " + in_quotes(text) + " is not " + std::string((*names)[0]) +
          " or " + std::string((*names)[1]));
    }
    return static_cast<int32_t>(found - names->begin());
  }
  int64_t value = 0;
  const int64_t lowest = has_absent_value(knob) ? 0 : 1;
  if (!parse_int(text, &value) || value < lowest || value > INT32_MAX) {
    bad(std::string(name(knob)) + ": " + in_quotes(text) + " is not a whole number from " +
        std::to_string(lowest));
  }
  return static_cast<int32_t>(value);
}

std::string to_text(const KernelConfig& config) {
  std::string text;
  for (const Knob knob : kKnobs) {
    const int32_t value = get(config, knob);
    if (is_left_out(knob, value)) continue;
    if (!text.empty()) text += ' ';
    text += std::string(name(knob)) + "=" + value_text(knob, value);
  }
  return text;
}

KernelConfig parse_config(std::string_view text, const KernelConfig& base) {
  KernelConfig config = base;
  std::array<bool, kKnobCount> seen{};
  std::string_view rest = text;
  for (std::string_view word = next_word(&rest); !word.empty(); word = next_word(&rest)) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) bad(in_quotes(word) + " is not knob=value");
    Knob knob{};
    if (!parse_knob(word.substr(0, equals), &knob)) {
      bad("unknown knob " + in_quotes(word.substr(0, equals)));
    }
    bool& given = seen[static_cast<size_t>(knob)];
    if (given) bad(std::string(name(knob)) + " is given twice");
    given = true;
    set(&config, knob, parse_value(knob, word.substr(equals + 1)));
  }
  return config;
}

}  // namespace mla

size_t std::hash<mla::KernelConfig>::operator()(const mla::KernelConfig& config) const noexcept {
  uint64_t h = 0;
  for (const mla::Knob knob : mla::kKnobs) {
    h = (h ^ static_cast<uint64_t>(mla::get(config, knob))) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  }
  return h;
}

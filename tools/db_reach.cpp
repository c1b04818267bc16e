// SPDX-License-Identifier: MIT
#include "tools/db_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "db/snapshot.h"
#include "tools/term.h"

namespace mla::tools {
namespace {

constexpr size_t kShownRows = 20;

std::string device_text(const DeviceInfo& device) {
  return device.name.empty() ? device_key(device)
                             : fmt::format("{} ({})", device.name, device_key(device));
}

// Of the fields that snapshot.h compares, those that differ; `rows` is left to the caller.
std::vector<FieldDifference> differences(const DeviceInfo& stored, const DeviceInfo& here) {
  std::vector<FieldDifference> found;
  const auto compare =
      [&](const char* field, bool hard, const std::string& expected, const std::string& value) {
        if (expected != value)
          found.push_back({device_text(stored), field, expected, value, hard, 0});
      };
  compare("arch", true, here.arch, stored.arch);
  compare("compute_units",
          true,
          std::to_string(here.compute_units),
          std::to_string(stored.compute_units));
  compare("xcds", true, std::to_string(here.xcds), std::to_string(stored.xcds));
  compare("partition", true, here.partition, stored.partition);
  if (!found.empty() || !db::soft_difference(stored, here)) return found;
  if (!here.name.empty()) compare("name", false, here.name, stored.name);
  if (here.memory_bytes != 0)
    compare("memory_bytes",
            false,
            std::to_string(here.memory_bytes),
            std::to_string(stored.memory_bytes));
  if (here.local_memory_bytes != 0)
    compare("local_memory_bytes",
            false,
            std::to_string(here.local_memory_bytes),
            std::to_string(stored.local_memory_bytes));
  compare("times",
          false,
          here.relative_times ? "ratios" : "us",
          stored.relative_times ? "ratios" : "us");
  return found;
}

std::string hard_reason(const std::vector<FieldDifference>& all) {
  std::string text;
  for (const FieldDifference& one : all) {
    if (!one.hard) continue;
    text += fmt::format(
        "{}{} {}, here {}", text.empty() ? "" : "; ", one.field, one.found, one.expected);
  }
  return text;
}

class Walk {
 public:
  explicit Walk(const Space& space) : space_(space) {
    result_.device = device_text(space.device());
  }

  Reach run(const std::vector<db::TuningSummary>& rows) {
    for (const db::TuningSummary& row : rows) {
      if (device_key(row.device) != device_key(space_.device())) continue;
      int64_t& newest = newest_[row.winner.problem];
      newest = std::max(newest, row.winner_id);
    }
    for (const db::TuningSummary& row : rows) visit(row);
    for (auto& [device, list] : differences_)
      for (FieldDifference& one : list) result_.differences.push_back(std::move(one));
    return std::move(result_);
  }

 private:
  void visit(const db::TuningSummary& row) {
    std::vector<FieldDifference> found = differences(row.device, space_.device());
    const auto [known, fresh] = differences_.try_emplace(device_text(row.device), found);
    for (FieldDifference& one : known->second) ++one.rows;
    const std::string reason = reason_against(row, found);
    if (!reason.empty()) {
      result_.unreachable.push_back({row.winner.problem, device_text(row.device), reason});
      return;
    }
    ++result_.answers;
    if (!found.empty() || row.winner.status == db::WinnerStatus::kVerifyAgain)
      ++result_.verify_again;
  }

  // Empty where the row answers.
  std::string reason_against(const db::TuningSummary& row,
                             const std::vector<FieldDifference>& found) const {
    const std::string hard = hard_reason(found);
    if (!hard.empty()) return hard;
    if (newest_.at(row.winner.problem) != row.winner_id) return "a newer row answers this shape";
    if (row.winner.status == db::WinnerStatus::kDemoted) return "demoted: the default answers";
    return space_.violation(row.winner.problem, row.winner.config).value_or("");
  }

  const Space& space_;
  std::unordered_map<Problem, int64_t> newest_;  // winner of each shape on devices like this one
  std::map<std::string, std::vector<FieldDifference>> differences_;  // by stored device
  Reach result_;
};

}  // namespace

Reach reach(const db::Store& store, const Space& space) {
  return Walk(space).run(store.summaries());
}

std::string reach_text(const Reach& reach, bool every_row, const Terminal& terminal) {
  std::string text;
  if (!reach.differences.empty()) {
    Table fields;
    fields.column("rows of");
    fields.column("field");
    fields.column("expected");
    fields.column("found");
    fields.column("rows", Table::Align::kRight);
    fields.column("are");
    for (const FieldDifference& one : reach.differences) {
      fields.row({one.stored_device,
                  one.field,
                  one.expected,
                  one.found,
                  count_text(one.rows),
                  one.hard ? "rejected" : "to be verified again"});
    }
    text += fields.text(terminal) + "\n";
  }
  const size_t shown =
      every_row ? reach.unreachable.size() : std::min(kShownRows, reach.unreachable.size());
  if (shown > 0) {
    Table rows;
    rows.column("unreachable here");
    rows.column("why");
    for (size_t i = 0; i < shown; ++i) {
      rows.row({to_text(reach.unreachable[i].problem), reach.unreachable[i].reason});
    }
    text += rows.text(terminal);
    if (shown < reach.unreachable.size())
      text += fmt::format("... and {} more; -v lists all\n", reach.unreachable.size() - shown);
    text += "\n";
  }
  const std::string sum =
      fmt::format("on {}: {} rows answer, {} of them to be verified again; {} unreachable\n",
                  reach.device,
                  count_text(reach.answers),
                  count_text(reach.verify_again),
                  count_text(static_cast<int64_t>(reach.unreachable.size())));
  return text + wrapped(terminal, sum, 2);
}

}  // namespace mla::tools

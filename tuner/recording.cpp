// SPDX-License-Identifier: MIT
#include "tuner/recording.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "kernels/error.h"

namespace mla::tuner {
namespace {

struct ProblemField {
  std::string_view name;
  void (*copy)(const Problem& from, Problem* to);
  std::string (*text)(const Problem& problem);
};

template <auto kMember>
constexpr ProblemField number_field(std::string_view field) {
  return {field,
          [](const Problem& from, Problem* to) { to->*kMember = from.*kMember; },
          [](const Problem& problem) { return std::to_string(problem.*kMember); }};
}

template <auto kMember>
constexpr ProblemField named_field(std::string_view field) {
  return {field,
          [](const Problem& from, Problem* to) { to->*kMember = from.*kMember; },
          [](const Problem& problem) { return std::string(name(problem.*kMember)); }};
}

constexpr std::array<ProblemField, 9> kProblemFields = {{
    number_field<&Problem::batch>("batch"),
    number_field<&Problem::nhead>("nhead"),
    number_field<&Problem::seq_len>("seq_len"),
    number_field<&Problem::q_len>("q_len"),
    named_field<&Problem::kv_dtype>("kv_dtype"),
    number_field<&Problem::page_size>("page_size"),
    {"shared_prefix",
     [](const Problem& from, Problem* to) {
       to->shared_prefix = from.shared_prefix;
       to->share_group = from.share_group;
     },
     [](const Problem& problem) {
       return std::to_string(problem.shared_prefix) + "/" + std::to_string(problem.share_group);
     }},
    number_field<&Problem::imbalance>("imbalance"),
    named_field<&Problem::pool>("pool"),
}};

const ProblemField* find_field(std::string_view name) {
  const auto found = std::find_if(kProblemFields.begin(),
                                  kProblemFields.end(),
                                  [&](const ProblemField& field) { return field.name == name; });
  return found == kProblemFields.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string> problem_fields() {
  std::vector<std::string> names;
  for (const ProblemField& field : kProblemFields) names.emplace_back(field.name);
  return names;
}

std::vector<std::string> problem_texts(const Problem& problem) {
  std::vector<std::string> texts;
  for (const ProblemField& field : kProblemFields) texts.push_back(field.text(problem));
  return texts;
}

bool is_problem_field(std::string_view name) {
  return find_field(name) != nullptr;
}

void Recording::add_problem_field(const std::string& name) {
  if (find_field(name) == nullptr) throw Error(ErrorCode::kInternal, name + " is no problem field");
  fields_.push_back(name);
}

bool Recording::has_knob(Knob knob) const {
  return std::find(knobs_.begin(), knobs_.end(), knob) != knobs_.end();
}

Problem Recording::project(const Problem& problem) const {
  Problem known;
  for (const std::string& field : fields_) find_field(field)->copy(problem, &known);
  return known;
}

KernelConfig Recording::project(const KernelConfig& config) const {
  KernelConfig known;
  for (const Knob knob : knobs_) set(&known, knob, get(config, knob));
  return known;
}

RecordedConfig& Recording::at(const Problem& problem, const KernelConfig& config) {
  return rows_[project(problem)][project(config)];
}

void Recording::set_baseline(const Problem& problem, const KernelConfig& config) {
  const bool narrow = config.group_rows == KernelConfig().group_rows;
  if (narrow && problem.kv_dtype == KvDtype::kBf16) baseline_ = config;
}

const RecordedConfig* Recording::find(const Problem& problem, const KernelConfig& config) const {
  const auto shape = rows_.find(project(problem));
  if (shape == rows_.end()) return nullptr;
  const auto row = shape->second.find(project(config));
  return row == shape->second.end() ? nullptr : &row->second;
}

std::vector<Problem> Recording::problems() const {
  std::vector<Problem> problems;
  for (const auto& [problem, configs] : rows_) problems.push_back(problem);
  std::sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tuple(a.nhead, a.batch, a.seq_len, to_text(a)) <
           std::tuple(b.nhead, b.batch, b.seq_len, to_text(b));
  });
  return problems;
}

std::vector<int32_t> Recording::values(Knob knob) const {
  std::set<int32_t> values;
  for (const auto& [problem, configs] : rows_)
    for (const auto& [config, row] : configs) values.insert(get(config, knob));
  return {values.begin(), values.end()};
}

bool Recording::every_split_count_is_its_own_unit() const {
  for (const auto& [problem, configs] : rows_) {
    std::set<int32_t> units;
    for (const auto& [config, row] : configs)
      if (std::find(row.times_us.begin(), row.times_us.end(), 1.0) != row.times_us.end())
        units.insert(config.splits);
    if (units.size() > 1) return true;
  }
  return false;
}

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
#include "tuner/worker_faults.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string_view>

#include "kernels/bf16.h"
#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::tuner {
namespace {

constexpr std::string_view kPrefix = "faulty:";
constexpr double kSlowFactor = 10;

enum class Action { kCrash, kHang, kWrong, kNan, kSlow, kFixed, kIllegal, kSpin };
constexpr std::array<std::string_view, 8> kActions = {
    "crash", "hang", "wrong", "nan", "slow", "fixed", "illegal", "spin"};

struct Rule {
  Action action{};
  bool on_run = true;
  bool on_time = true;
  std::string knobs;  // as parse_config takes them; empty: every configuration
  int64_t nth = 0;    // 0: every launch
  int64_t seen = 0;   // launches that matched so far
};

[[noreturn]] void bad_rule(std::string_view rule, const std::string& why) {
  throw Error(ErrorCode::kUsage, "faulty device: rule " + in_quotes(rule) + ": " + why);
}

// Cuts what follows `mark` off `text`; nothing where there is no mark.
std::optional<std::string_view> cut_behind(std::string_view* text, char mark) {
  const size_t at = text->find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text->substr(at + 1);
  *text = text->substr(0, at);
  return behind;
}

// Whether a rule of this action can act with these kernels.
bool can_act(Action action, const FaultKernels& kernels) {
  if (action == Action::kIllegal) return kernels.illegal != nullptr;
  return action != Action::kSpin || kernels.spin != nullptr;
}

Rule parse_rule(std::string_view text, const FaultKernels& kernels) {
  Rule rule;
  std::string_view rest = text;
  if (const auto nth = cut_behind(&rest, '#')) {
    if (!parse_int(*nth, &rule.nth) || rule.nth < 1) bad_rule(text, "#N counts from 1");
  }
  if (const auto knobs = cut_behind(&rest, '@')) {
    rule.knobs = *knobs;
    parse_config(rule.knobs);  // throws where it never could match
  }
  if (const auto call = cut_behind(&rest, '.')) {
    if (*call != "run" && *call != "time") bad_rule(text, "acts on .run or .time");
    rule.on_run = *call == "run";
    rule.on_time = *call == "time";
  }
  for (size_t i = 0; i < kActions.size(); ++i) {
    if (rest != kActions[i]) continue;
    rule.action = static_cast<Action>(i);
    if (!can_act(rule.action, kernels)) bad_rule(text, "this program has no kernel for it");
    return rule;
  }
  bad_rule(text, "unknown action (crash, hang, wrong, nan, slow, fixed, illegal, spin)");
}

std::vector<Rule> parse_rules(std::string_view text, const FaultKernels& kernels) {
  std::vector<Rule> rules;
  std::optional<std::string_view> rest = text;
  while (rest) {
    std::string_view rule = *rest;
    rest = cut_behind(&rule, ',');
    rules.push_back(parse_rule(rule, kernels));
  }
  return rules;
}

// Between 100 us and 1 ms, and the same in every process.
double fixed_time_us(const KernelConfig& config) {
  uint64_t hash = 0;
  for (const Knob knob : kKnobs) hash = mix64(hash + static_cast<uint64_t>(get(config, knob)));
  return 100 + static_cast<double>(hash % 900);
}

class FaultPlan {
 public:
  FaultPlan(std::vector<Rule> rules, FaultKernels kernels)
      : rules_(std::move(rules)), kernels_(std::move(kernels)) {}

  // The rules' actions for one launch. Does not return from a crash or a hang; kernels that fault
  // are queued on the device.
  std::array<bool, kActions.size()> begin_launch(Device& device,
                                                 const KernelConfig& config,
                                                 bool is_run) {
    std::array<bool, kActions.size()> actions{};
    for (Rule& rule : rules_) {
      const bool matches =
          (is_run ? rule.on_run : rule.on_time) && parse_config(rule.knobs, config) == config;
      if (!matches || (++rule.seen != rule.nth && rule.nth != 0)) continue;
      if (rule.action == Action::kCrash) crash();
      while (rule.action == Action::kHang) pause();
      if (rule.action == Action::kIllegal) kernels_.illegal(device);
      if (rule.action == Action::kSpin) kernels_.spin(device);
      actions[static_cast<size_t>(rule.action)] = true;
    }
    return actions;
  }

 private:
  // By the default action of the signal: a sanitizer would turn it into an exit.
  [[noreturn]] static void crash() {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    _exit(1);
  }

  std::vector<Rule> rules_;
  FaultKernels kernels_;
};

class FaultyProblem : public LoadedProblem {
 public:
  FaultyProblem(Device& device,
                std::unique_ptr<LoadedProblem> inner,
                std::shared_ptr<FaultPlan> plan)
      : device_(device), inner_(std::move(inner)), plan_(std::move(plan)) {}

  const Workload& workload() const override { return inner_->workload(); }

  Outcome run(const KernelConfig& config) override {
    const auto actions = plan_->begin_launch(device_, config, true);
    wrong_ = actions[static_cast<size_t>(Action::kWrong)];
    nan_ = actions[static_cast<size_t>(Action::kNan)];
    return inner_->run(config);
  }

  TimedRun time_cold(const KernelConfig& config) override {
    const auto actions = plan_->begin_launch(device_, config, false);
    TimedRun timed = inner_->time_cold(config);
    if (actions[static_cast<size_t>(Action::kFixed)]) timed.time_us = fixed_time_us(config);
    if (actions[static_cast<size_t>(Action::kSlow)]) timed.time_us *= kSlowFactor;
    return timed;
  }

  // The row in the middle: seldom among the few that are checked against the reference.
  void read_output(std::vector<uint16_t>* out, std::vector<float>* lse) override {
    inner_->read_output(out, lse);
    const size_t rows = out->size() / kValueDim;
    uint16_t* row = out->data() + rows / 2 * kValueDim;
    if (nan_) row[kValueDim / 2] = kBf16Nan;
    for (int i = 0; wrong_ && i < kValueDim; ++i) {
      row[i] = float_to_bf16(1.1f * bf16_to_float(row[i]));
    }
  }

 private:
  Device& device_;
  std::unique_ptr<LoadedProblem> inner_;
  std::shared_ptr<FaultPlan> plan_;
  bool wrong_ = false;
  bool nan_ = false;
};

class FaultyDevice : public Device {
 public:
  FaultyDevice(std::unique_ptr<Device> inner, std::shared_ptr<FaultPlan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}

  const DeviceInfo& info() const override { return inner_->info(); }
  const Space& space() const override { return inner_->space(); }
  bool reads_host_pool() const override { return inner_->reads_host_pool(); }
  std::unique_ptr<LoadedProblem> load(std::shared_ptr<const Workload> workload) override {
    return std::make_unique<FaultyProblem>(*inner_, inner_->load(std::move(workload)), plan_);
  }

 private:
  std::unique_ptr<Device> inner_;
  std::shared_ptr<FaultPlan> plan_;
};

}  // namespace

bool is_faulty_spec(const std::string& spec) {
  return spec.starts_with(kPrefix);
}

std::unique_ptr<Device> add_faults(std::unique_ptr<Device> device,
                                   const std::string& rules,
                                   const FaultKernels& kernels) {
  auto plan = std::make_shared<FaultPlan>(parse_rules(rules, kernels), kernels);
  return std::make_unique<FaultyDevice>(std::move(device), std::move(plan));
}

std::unique_ptr<Device> open_worker_device(
    const std::string& spec,
    const std::function<std::unique_ptr<Device>(const std::string&)>& open,
    const FaultKernels& kernels) {
  if (!is_faulty_spec(spec)) return open(spec);
  std::string_view rules = std::string_view(spec).substr(kPrefix.size());
  const auto inner = cut_behind(&rules, ':');
  if (!inner) throw Error(ErrorCode::kUsage, in_quotes(spec) + " is not faulty:RULES:DEVICE");
  return add_faults(open(std::string(*inner)), std::string(rules), kernels);
}

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// The command line of mla-tune. One table of verbs and one of options: parsing, --help and the
// shell completions all come from them, so they cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/problem.h"
#include "tools/parse.h"
#include "tools/term.h"

namespace mla::tools {

enum class Verb : unsigned {
  kDevices = 1u << 0,
  kSpace = 1u << 1,
  kRun = 1u << 2,
  kLookup = 1u << 3,
  kBench = 1u << 4,
  kReport = 1u << 5,
  kDb = 1u << 6,
  kCompletion = 1u << 7,
  kSweep = 1u << 8,
  kVerify = 1u << 9,
  kEvaluate = 1u << 10,
  kCompare = 1u << 11,
  kDoctor = 1u << 12,
};

// What the user wrote; empty or nullopt where an option was not given and has no default here.
struct Options {
  Verb verb = Verb::kDevices;
  std::string action;                 // "info" of `db info`; empty where the verb takes none
  std::vector<std::string> operands;  // "BEFORE AFTER" of compare
  std::string command_line;           // the whole command, quoted for a shell
  bool help = false;

  std::string device;
  std::vector<std::string> devices;  // of a run, which takes several
  std::optional<Shard> shard;
  std::vector<std::string> databases;
  std::vector<std::string> from;  // files to read
  std::string preset;
  std::vector<int64_t> batch, nhead, seq_len, q_len, page_size;
  std::optional<KvDtype> kv_dtype;
  std::optional<SharedPrefix> shared_prefix;
  std::optional<int32_t> imbalance;
  std::string pool;
  std::vector<std::string> configs;  // knob texts, unparsed: the device's default fills the gaps

  std::string lever;            // of a dose-response
  std::vector<int64_t> splits;  // the same

  double budget_s = 0;  // 0: no limit
  int rounds = 0;       // 0: the verb's default
  int threads = 0;      // the same
  int64_t max_configs = 0;
  uint64_t seed = 1;
  std::string baseline = "default";
  bool dry_run = false, retune = false;
  bool unknown_length = false;
  std::string lengths;  // file with a histogram of lengths
  std::string search;   // "full" or "small"; empty: the preset's
  bool refine = false;
  int64_t canary = 0;  // winners that are verified at most; 0: all
  bool stale = false;  // only those of another environment
  int64_t shapes = 0;  // that are evaluated; 0: the verb's default

  bool loop_budget = false;
  bool json = false, markdown = false, explain = false, strict = false;
  bool progress = true, quiet = false, verbose = false;
  Color color = Color::kAuto;
  std::string format;
  std::string output;
  std::string csv, record;           // files to write beside the result
  std::string html;                  // page of a report
  std::string against;               // database that a report's answers are compared with
  double read_gb_s = 0;              // read ceiling of the device; 0: not said
  std::vector<std::string> fail_on;  // names of verdicts
};

struct VerbSpec {
  Verb verb;
  const char* name;
  const char* text;     // one line for the overview
  const char* actions;  // "info|check", the legal values of the one positional argument; or ""
  bool needs_action;
  const char* example;
  const char* operands = "";  // "BEFORE AFTER": as many words, all needed
};

struct OptionSpec {
  const char* name;   // without the dashes
  char letter;        // 0: no short form
  const char* value;  // "LIST", "FILE", "small|large" (a choice); "" for a switch
  bool repeats;
  const char* group;  // heading in --help
  const char* text;
  unsigned verbs;  // union of Verb
  void (*apply)(Options* options, const std::string& value);
};

std::span<const VerbSpec> verb_table();
std::span<const OptionSpec> option_table();
const VerbSpec& spec_of(Verb verb);
bool takes(Verb verb, const OptionSpec& option);

// "bash|zsh|fish" is a choice, "FILE" is not.
bool is_choice(const OptionSpec& option);

// args: everything after the program name. Throws Error(kUsage) whose text begins with the option.
Options parse_options(const std::vector<std::string>& args);

// Facts of the whole program that --help and the manual page share.
struct HelpEntry {
  const char* term;  // "MLA_TUNE_DB", "70"
  const char* text;
};
std::span<const HelpEntry> exit_status_table();
std::span<const HelpEntry> environment_table();
std::span<const HelpEntry> list_table();  // how lists are written
// "-o, --output FILE"
std::string synopsis(const OptionSpec& option);
// "mla-tune db info|check [options]"
std::string usage_line(const VerbSpec& verb);

// Texts for people, in lines of at most `width` columns.
inline constexpr size_t kHelpWidth = 100;
std::string overview_text(size_t width);
std::string help_text(Verb verb, size_t width);

// The verb that `args` names, for messages; empty where it names none.
std::string verb_name(const std::vector<std::string>& args);

// `args` as one line that a shell reads back as the same words.
std::string shell_quoted(const std::vector<std::string>& args);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// The verbs and options of mla-tune, as data.
#include <array>

#include "kernels/config.h"
#include "kernels/error.h"
#include "kernels/problem.h"
#include "tools/options.h"

namespace mla::tools {
namespace {

constexpr unsigned kDevices = static_cast<unsigned>(Verb::kDevices);
constexpr unsigned kSpace = static_cast<unsigned>(Verb::kSpace);
constexpr unsigned kRun = static_cast<unsigned>(Verb::kRun);
constexpr unsigned kLookup = static_cast<unsigned>(Verb::kLookup);
constexpr unsigned kBench = static_cast<unsigned>(Verb::kBench);
constexpr unsigned kReport = static_cast<unsigned>(Verb::kReport);
constexpr unsigned kDb = static_cast<unsigned>(Verb::kDb);
constexpr unsigned kCompletion = static_cast<unsigned>(Verb::kCompletion);
constexpr unsigned kSweep = static_cast<unsigned>(Verb::kSweep);

constexpr unsigned kVerify = static_cast<unsigned>(Verb::kVerify);
constexpr unsigned kEvaluate = static_cast<unsigned>(Verb::kEvaluate);
constexpr unsigned kDoctor = static_cast<unsigned>(Verb::kDoctor);

constexpr unsigned kCompare = static_cast<unsigned>(Verb::kCompare);

constexpr unsigned kShapes = kSpace | kRun | kLookup | kBench | kSweep;
constexpr unsigned kAll =
    kDevices | kShapes | kReport | kDb | kCompletion | kVerify | kEvaluate | kDoctor | kCompare;

constexpr const char* kShape = "Shapes";
constexpr const char* kWhere = "Device and database";
constexpr const char* kTuning = "Measuring";
constexpr const char* kOutput = "Output";

constexpr const char* kKvDtypes = "bf16|fp8";
constexpr const char* kImbalances = "1|2|4|8";
constexpr const char* kPools = "small|large";
constexpr const char* kPresets = "quick|seed|serving|grid|roof";
constexpr const char* kSearches = "full|small";
constexpr const char* kBaselines = "default|drained";
constexpr const char* kLevers = "wait|order|stage2";
constexpr const char* kColors = "auto|always|never";
constexpr const char* kFormats = "md|csv|json";
constexpr const char* kChanges = "slow|ambiguous|unknown|fast|same";

std::string text_value(const std::string& value) {
  if (value.empty()) throw Error(ErrorCode::kUsage, "needs a value");
  return value;
}

void set_kv_dtype(Options* o, const std::string& value) {
  KvDtype dtype{};
  parse_kv_dtype(parse_choice(value, kKvDtypes), &dtype);
  o->kv_dtype = dtype;
}

void set_page_size(Options* o, const std::string& value) {
  o->page_size = parse_list(value, 1, 64);
  for (const int64_t rows : o->page_size) {
    if (rows != 1 && rows != 16 && rows != 64) {
      throw Error(ErrorCode::kUsage, std::to_string(rows) + " is not one of 1, 16, 64");
    }
  }
}

void set_color(Options* o, const std::string& value) {
  const std::string choice = parse_choice(value, kColors);
  o->color = choice == "always" ? Color::kAlways : choice == "never" ? Color::kNever : Color::kAuto;
}

void set_fail_on(Options* o, const std::string& value) {
  for (const std::string& verdict : split(value, ',')) {
    o->fail_on.push_back(parse_choice(verdict, kChanges));
  }
}

void set_config(Options* o, const std::string& value) {
  parse_config(text_value(value));  // a typo is reported before anything is measured
  o->configs.push_back(value);
}

// clang-format off
constexpr auto kVerbs = std::to_array<VerbSpec>({
    {Verb::kDevices, "devices", "list the devices that can be tuned", "", false,
     "mla-tune devices"},
    {Verb::kSpace, "space", "knobs, legal values, constraints and counts for a shape", "", false,
     "mla-tune space --device cpu --batch 8 --seq-len 68000"},
    {Verb::kRun, "run", "explore the configurations of every shape and keep the winners", "", false,
     "mla-tune run --nhead 12 --batch 1,2,4,8 --seq-len 4096,16384 --budget 5m"},
    {Verb::kLookup, "lookup", "the configuration that a shape is launched with, and why", "", false,
     "mla-tune lookup --nhead 12 --batch 8 --seq-len 16384 --json"},
    {Verb::kBench, "bench", "time the operation, named configurations or the lookup", "lookup", false,
     "mla-tune bench --device cpu --config wait=drain --config wait=partial"},
    {Verb::kSweep, "sweep", "each lever against the drained baseline, and one lever over split counts", "levers|dose", false,
     "mla-tune sweep --preset seed --csv sweep.csv"},
    {Verb::kVerify, "verify", "time stored winners against the default again, demote what no longer holds", "", false,
     "mla-tune verify --canary 20 --db shipped.db --db own.db"},
    {Verb::kEvaluate, "evaluate", "the answers at shapes that were not tuned, against an exhaustive search", "", false,
     "mla-tune evaluate --shapes 200 --db tuning.db"},
    {Verb::kDoctor, "doctor", "clocks, permissions, databases, versions and settings, and what to do about them", "", false,
     "mla-tune doctor --db tuning.db"},
    {Verb::kReport, "report", "what a database holds, with the evidence", "", false,
     "mla-tune report --html report.html --db tuning.db"},
    {Verb::kCompare, "compare", "verdicts on the answers of two databases: SLOW, AMBG, ????, FAST, SAME", "", false,
     "mla-tune compare before.db after.db --fail-on slow,ambiguous", "BEFORE AFTER"},
    {Verb::kDb, "db", "what databases hold; shipping, comparing and moving winners", "info|check|ship|export|import|merge|diff|prune|migrate|miss", true,
     "mla-tune db ship --db tuning.db -o shipped.db"},
    {Verb::kCompletion, "completion", "a completion script for a shell", "bash|zsh|fish", true,
     "mla-tune completion bash > /etc/bash_completion.d/mla-tune"},
});

constexpr auto kOptions = std::to_array<OptionSpec>({
    {"batch", 0, "LIST", false, kShape, "requests of a step, zero-length rows included", kShapes,
     [](Options* o, const std::string& v) { o->batch = parse_list(v, 1, kMaxBatch); }},
    {"nhead", 0, "LIST", false, kShape, "query heads", kShapes,
     [](Options* o, const std::string& v) { o->nhead = parse_list(v, 1, kMaxHeads); }},
    {"seq-len", 0, "LIST", false, kShape, "mean cached rows per request (lookup: left out = unknown)", kShapes,
     [](Options* o, const std::string& v) { o->seq_len = parse_list(v, 1, kMaxSeqLen); }},
    {"q-len", 0, "LIST", false, kShape, "query positions per request (multi-token prediction)", kShapes,
     [](Options* o, const std::string& v) { o->q_len = parse_list(v, 1, kMaxQLen); }},
    {"page-size", 0, "LIST", false, kShape, "rows of a KV page: 1, 16, 64", kShapes, set_page_size},
    {"kv-dtype", 0, kKvDtypes, false, kShape, "element type of the KV cache; fp8 is e4m3 with one scale", kShapes, set_kv_dtype},
    {"shared-prefix", 0, "ROWS[/GROUP]", false, kShape, "leading rows shared by groups of GROUP requests (8)", kShapes,
     [](Options* o, const std::string& v) { o->shared_prefix = parse_shared_prefix(v); }},
    {"imbalance", 0, kImbalances, false, kShape, "class of longest / mean request", kShapes,
     [](Options* o, const std::string& v) { o->imbalance = static_cast<int32_t>(std::stoi(parse_choice(v, kImbalances))); }},
    {"pool", 0, kPools, false, kShape, "KV pool below or above 2^32 bytes", kShapes,
     [](Options* o, const std::string& v) { o->pool = parse_choice(v, kPools); }},
    {"preset", 0, kPresets, false, kShape, "a prepared list of shapes, whose lists other options replace; roof (bench): goals", kRun | kBench | kSweep,
     [](Options* o, const std::string& v) { o->preset = parse_choice(v, kPresets); }},

    {"device", 0, "SPEC", false, kWhere, "cpu[:threads=N], hip:N, replay:FILE, analytic[:KEY=VALUE,...] or amdgcn:PART (space, lookup, db check); default: the best present",
     (kShapes & ~kRun) | kVerify | kEvaluate | kDoctor | kDb, [](Options* o, const std::string& v) { o->device = text_value(v); }},
    {"device", 0, "SPEC", true, kWhere, "cpu[:threads=N], hip:N, replay:FILE or analytic[:KEY=VALUE,...]; several of a kind, or hip:all, share the shapes; default: the best present",
     kRun, [](Options* o, const std::string& v) { o->devices.push_back(text_value(v)); }},
    {"shard", 0, "I/N", false, kWhere, "every N-th shape from the I-th (from 0), into FILE.I-of-N.db; default: the rank that mpirun or srun gave",
     kRun, [](Options* o, const std::string& v) { o->shard = parse_shard(v); }},
    {"db", 0, "FILE", true, kWhere, "tuning database; lookup, sweep, bench, verify, evaluate, doctor and db info take several, later ones win; db diff takes two", kRun | kLookup | kBench | kSweep | kReport | kDb | kVerify | kEvaluate | kDoctor,
     [](Options* o, const std::string& v) { o->databases.push_back(text_value(v)); }},
    {"from", 0, "FILE", true, kWhere, "what to read: shapes, one 'batch=8 nhead=12 seq_len=5000' a line (run, evaluate); databases (db merge), the text of db export (db import), what the library missed (db miss), the --csv of a sweep (report --html)", kRun | kEvaluate | kDb | kReport,
     [](Options* o, const std::string& v) { o->from.push_back(text_value(v)); }},

    {"budget", 0, "TIME", false, kTuning, "wall time for all shapes: 90s, 5m, 1h", kRun | kSweep | kVerify | kEvaluate,
     [](Options* o, const std::string& v) { o->budget_s = parse_duration_s(v); }},
    {"rounds", 0, "N", false, kTuning, "most paired rounds of a verdict, 15..60; the guard may decide earlier", kRun | kBench | kSweep | kVerify | kEvaluate,
     [](Options* o, const std::string& v) { o->rounds = static_cast<int>(parse_int(v, 15, 60)); }},
    {"max-configs", 0, "N", false, kTuning, "configurations measured per shape at most", kRun,
     [](Options* o, const std::string& v) { o->max_configs = parse_int(v, 2, 1'000'000); }},
    {"seed", 0, "N", false, kTuning, "seed of inputs and search order (1)", kRun | kBench | kSweep | kVerify | kEvaluate,
     [](Options* o, const std::string& v) { o->seed = static_cast<uint64_t>(parse_int(v, 0, INT64_MAX)); }},
    {"baseline", 0, kBaselines, false, kTuning, "what a winner has to beat", kRun,
     [](Options* o, const std::string& v) { o->baseline = parse_choice(v, kBaselines); }},
    {"config", 0, "KNOBS", true, kTuning, "'splits=32 wait=partial': only these are measured; gaps filled by the default", kRun | kBench, set_config},
    {"threads", 0, "N", false, kTuning, "lookup: reading threads beside one that reloads without end (8)", kBench,
     [](Options* o, const std::string& v) { o->threads = static_cast<int>(parse_int(v, 1, 128)); }},
    {"lever", 0, kLevers, false, kTuning, "what the dose-response compares with its baseline (wait)", kSweep,
     [](Options* o, const std::string& v) { o->lever = parse_choice(v, kLevers); }},
    {"splits", 0, "LIST", false, kTuning, "split counts of the dose-response (1:256:x2)", kSweep,
     [](Options* o, const std::string& v) { o->splits = parse_list(v, 1, kMaxBatch); }},
    {"retune", 0, "", false, kTuning, "measure again what the database already answers", kRun,
     [](Options* o, const std::string&) { o->retune = true; }},
    {"search", 0, kSearches, false, kTuning, "full: from a sample of the whole space; small: from winners of shapes nearby, a fraction of a second a shape", kRun,
     [](Options* o, const std::string& v) { o->search = parse_choice(v, kSearches); }},
    {"refine", 0, "", false, kTuning, "also tune shapes at wave edges, and between winners that lose to each other", kRun,
     [](Options* o, const std::string&) { o->refine = true; }},
    {"unknown-length", 0, "", false, kTuning, "also a plan per batch for unknown lengths, over those of --seq-len (1024:131072:x2)", kRun,
     [](Options* o, const std::string&) { o->unknown_length = true; }},
    {"lengths", 0, "FILE", false, kTuning, "the same over a serving histogram of 'rows count' lines, in place of --seq-len", kRun,
     [](Options* o, const std::string& v) { o->lengths = text_value(v); }},
    {"dry-run", 'n', "", false, kTuning, "print the plan and measure nothing (db prune: remove nothing)", kRun | kDb,
     [](Options* o, const std::string&) { o->dry_run = true; }},

    {"budget", 0, "", false, kOutput, "amdgcn: issue cycles of the stage-1 loop's pipes beside its memory time", kSpace,
     [](Options* o, const std::string&) { o->loop_budget = true; }},
    {"canary", 0, "N", false, kTuning, "only the N winners that take longest", kVerify,
     [](Options* o, const std::string& v) { o->canary = parse_int(v, 1, 1'000'000); }},
    {"stale", 0, "", false, kTuning, "only winners measured with another driver, runtime, compiler or kernel code", kVerify,
     [](Options* o, const std::string&) { o->stale = true; }},

    {"shapes", 0, "N", false, kTuning, "held-out shapes drawn by the seed within the tuned range (50)", kEvaluate,
     [](Options* o, const std::string& v) { o->shapes = parse_int(v, 1, 10'000); }},

    {"explain", 0, "", false, kOutput, "show key, candidates, default and evidence", kLookup,
     [](Options* o, const std::string&) { o->explain = true; }},
    {"strict", 0, "", false, kOutput, "exit status 1 unless a database answers", kLookup,
     [](Options* o, const std::string&) { o->strict = true; }},
    {"format", 0, kFormats, false, kOutput, "format of the report (md)", kReport,
     [](Options* o, const std::string& v) { o->format = parse_choice(v, kFormats); }},
    {"markdown", 0, "", false, kOutput, "a table for a pull request", kCompare,
     [](Options* o, const std::string&) { o->markdown = true; }},
    {"html", 0, "FILE", false, kOutput, "one page that needs no network, with its data as CSV and JSON beside it", kReport,
     [](Options* o, const std::string& v) { o->html = text_value(v); }},
    {"against", 0, "FILE", false, kOutput, "with --html: an older database, for the list of regressions", kReport,
     [](Options* o, const std::string& v) { o->against = text_value(v); }},
    {"read-gb-s", 0, "N", false, kOutput, "with --html: the device's read ceiling, as bench --preset roof prints it (left out: the fastest read of the report)", kReport,
     [](Options* o, const std::string& v) { o->read_gb_s = static_cast<double>(parse_int(v, 1, 1'000'000)); }},
    {"fail-on", 0, "VERDICTS", false, kOutput, "exit status 1 where a shape has one of these: slow, ambiguous, unknown, fast, same", kCompare, set_fail_on},
    {"output", 'o', "FILE", false, kOutput, "write the result to FILE", kReport | kDb | kCompare,
     [](Options* o, const std::string& v) { o->output = text_value(v); }},
    {"csv", 0, "FILE", false, kOutput, "also write every leg with its rounds to FILE", kSweep,
     [](Options* o, const std::string& v) { o->csv = text_value(v); }},
    {"record", 0, "FILE", false, kOutput, "also write the times to FILE, which --device replay:FILE serves", kSweep,
     [](Options* o, const std::string& v) { o->record = text_value(v); }},
    {"json", 0, "", false, kOutput, "one JSON document on standard output", kAll & ~(kReport | kCompletion),
     [](Options* o, const std::string&) { o->json = true; }},
    {"no-progress", 0, "", false, kOutput, "no live line and no progress lines", kRun | kSweep | kVerify | kEvaluate,
     [](Options* o, const std::string&) { o->progress = false; }},
    {"color", 0, kColors, false, kOutput, "colour; NO_COLOR and CLICOLOR_FORCE are honoured", kAll, set_color},
    {"quiet", 'q', "", false, kOutput, "results and errors only", kAll,
     [](Options* o, const std::string&) { o->quiet = true; }},
    {"verbose", 'v', "", false, kOutput, "every failed candidate, and where the time went; db info: the file that answers each shape; db check: every unreachable row", kRun | kBench | kSweep | kLookup | kDb,
     [](Options* o, const std::string&) { o->verbose = true; }},
    {"help", 'h', "", false, kOutput, "this text", kAll,
     [](Options* o, const std::string&) { o->help = true; }},
});
// clang-format on

}  // namespace

std::span<const VerbSpec> verb_table() {
  return kVerbs;
}
std::span<const OptionSpec> option_table() {
  return kOptions;
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// `mla-tune lookup`: the answer that the run-time library gives, and where it comes from.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/grid.h"
#include "tools/json.h"
#include "tools/lookup_view.h"
#include "tools/paths.h"
#include "tools/target.h"

namespace mla::tools {
namespace {

std::vector<LookupView> look_up(const Options& options,
                                const std::vector<std::string>& databases,
                                const Space& space) {
  const policy::LookupTable table(databases, space);
  if (!options.quiet) {
    for (const std::string& warning : table.warnings()) {
      say(stderr, "mla-tune lookup: warning: " + warning + "\n");
    }
  }
  const policy::DefaultPolicy default_policy(space);
  Grid unknown_length;
  unknown_length.seq_len = {0};
  std::vector<LookupView> views;
  for (const Problem& problem : problems_of(grid_of(options, unknown_length))) {
    LookupView view;
    view.problem = problem;
    view.answer = table.find(problem);
    view.default_config = default_policy(problem);
    view.relative_times = space.device().relative_times;
    view.exact = exact_key(problem);
    view.bucket = bucket_key(problem);
    // The table and its path texts end with this function.
    const int32_t index = view.answer.database_index;
    view.answer.database = index < 0 ? "" : databases[static_cast<size_t>(index)].c_str();
    views.push_back(std::move(view));
  }
  return views;
}

void print_views(const Options& options, const std::vector<LookupView>& views) {
  if (options.json) {
    fmt::print("{}\n", lookup_json(views, options.explain));
    return;
  }
  constexpr size_t kValueIndent = 10;  // where lookup_text() begins its values
  const Terminal terminal = inspect(stdout, options.color);
  for (size_t i = 0; i < views.size(); ++i) {
    fmt::print("{}{}",
               i == 0 ? "" : "\n",
               wrapped(terminal, lookup_text(views[i], options.explain), kValueIndent));
  }
}

}  // namespace

int cmd_lookup(const Options& options) {
  if (options.shared_prefix && options.shared_prefix->rows > 0 && options.seq_len.empty()) {
    throw Error(ErrorCode::kUsage, "--shared-prefix: needs --seq-len, of which it is a part");
  }
  const std::vector<std::string> databases = database_paths(options.databases);
  const Space space = space_of(device_spec(options.device));
  std::vector<LookupView> views = look_up(options, databases, space);
  if (options.explain) add_candidates(databases, space.device(), &views);
  print_views(options, views);
  const bool all_answered = std::all_of(views.begin(), views.end(), [](const LookupView& view) {
    return from_database(view.answer.source);
  });
  return options.strict && !all_answered ? kNegativeAnswer : kDone;
}

}  // namespace mla::tools

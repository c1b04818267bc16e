// SPDX-License-Identifier: MIT
// `mla-tune compare BEFORE AFTER`: verdicts on what changed between two databases, for people and
// for CI.
#include <algorithm>

#include "kernels/error.h"
#include "tools/commands.h"
#include "tools/compare_databases.h"
#include "tools/paths.h"

namespace mla::tools {

int cmd_compare(const Options& options) {
  if (options.json && options.markdown) {
    throw Error(ErrorCode::kUsage, "--json and --markdown: only one of them");
  }
  const db::Store before = db::Store::open(options.operands.at(0), db::OpenMode::kReadOnly);
  const db::Store after = db::Store::open(options.operands.at(1), db::OpenMode::kReadOnly);
  const DatabaseChanges changes = compare_databases(before, after);
  const Terminal terminal =
      is_standard_output(options.output) ? inspect(stdout, options.color) : Terminal{};
  const std::string text = options.json       ? changes_json(changes) + "\n"
                           : options.markdown ? changes_markdown(changes)
                                              : changes_text(changes, terminal);
  write_result(options.output, text);
  const bool failed =
      std::any_of(changes.shapes.begin(), changes.shapes.end(), [&](const ShapeChange& shape) {
        const auto& verdicts = options.fail_on;
        return std::find(verdicts.begin(), verdicts.end(), name(shape.verdict)) != verdicts.end();
      });
  return failed ? kNegativeAnswer : kDone;
}

}  // namespace mla::tools

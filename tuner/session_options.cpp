// SPDX-License-Identifier: MIT
// What the options of a session may be, and their text in the key of a tuning.
#include <set>

#include "kernels/error.h"
#include "kernels/text.h"
#include "tuner/session.h"
#include "tuner/shape_tuning.h"

namespace mla::tuner {
namespace {

// Changes where the search or the final changes what it measures for equal options.
constexpr const char* kProtocolVersion = "halving-1";

constexpr double kCrossingShare = 0.2;
constexpr double kSmallCrossingShare = 0.4;

}  // namespace

SessionOptions usable_at(const CandidateSource& source, SessionOptions options) {
  options.small_search =
      options.small_search && options.only.empty() && source.recorded_problems().empty();
  return options;
}

double crossing_share(const SessionOptions& options) {
  return options.small_search || !options.lengths.empty() ? kSmallCrossingShare : kCrossingShare;
}

void require_usable(const SessionOptions& options) {
  usable_final_rounds(options.final_rounds);
  if (options.baseline != kDefaultRole && options.baseline != kDrainedRole)
    throw Error(ErrorCode::kUsage,
                "baseline: " + in_quotes(options.baseline) + " is neither default nor drained");
}

std::string protocol_text(const SessionOptions& options) {
  std::string text = std::string(kProtocolVersion) +
                     " final_rounds=" + std::to_string(options.final_rounds) +
                     " baseline=" + options.baseline;
  if (options.max_configs > 0) text += " max_configs=" + std::to_string(options.max_configs);
  if (options.estimate_us) text += " order=estimate";
  if (options.small_search) text += " search=small";
  std::set<std::string> only;
  for (const KernelConfig& config : options.only) only.insert(to_text(config));
  for (const std::string& config : only) text += " only={" + config + "}";
  return text;
}

}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
#include "tuner/sources.h"

#include <optional>
#include <string_view>

#include "kernels/error.h"
#include "kernels/text.h"
#include "tuner/analytic_source.h"
#include "tuner/replay_source.h"
#include "tuner/worker_faults.h"
#include "tuner/worker_source.h"

namespace mla::tuner {
namespace {

// What follows "KIND:", nothing at all for a plain "KIND", and nullopt for another kind.
std::optional<std::string> options_of(const std::string& spec, std::string_view kind) {
  if (spec == kind) return "";
  if (!spec.starts_with(std::string(kind) + ":")) return std::nullopt;
  return spec.substr(kind.size() + 1);
}

}  // namespace

std::unique_ptr<CandidateSource> open_source(const std::string& device_spec,
                                             const std::string& worker_program) {
  if (const auto file = options_of(device_spec, "replay"); file && !file->empty()) {
    return open_replay_source(*file);
  }
  if (const auto options = options_of(device_spec, "analytic")) {
    return open_analytic_source(*options);
  }
  if (options_of(device_spec, "cpu") || options_of(device_spec, "hip") ||
      is_faulty_spec(device_spec)) {
    return std::make_unique<WorkerSource>(worker_program, device_spec);
  }
  throw Error(
      ErrorCode::kUsage,
      in_quotes(device_spec) +
          " is not a device: cpu[:threads=N], hip:N, replay:FILE[,noise=0.3%], analytic[:OPTIONS]");
}

}  // namespace mla::tuner

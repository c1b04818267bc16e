// SPDX-License-Identifier: MIT
// The values that several JSON documents share. Only the json_*.cpp files see the JSON library.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "db/record.h"
#include "kernels/config.h"
#include "kernels/device_info.h"
#include "kernels/problem.h"
#include "tools/results.h"

namespace mla::tools {

using Json = nlohmann::ordered_json;

inline constexpr int kJsonSchemaVersion = 1;

// {"schema_version": 1}, to which a document is added.
Json json_document();

// Six significant digits; null for what is not finite.
Json json_number(double value);
// A time; null where it is unknown or a recording's ratio.
Json json_time_us(double time_us, bool relative);

Json json_config(const KernelConfig& config);  // knobs that the device lacks are left out
Json json_problem(const Problem& problem);
Json json_device(const DeviceInfo& device);
Json json_environment(const db::Environment& environment);
Json json_winner(const db::WinnerRecord& winner, bool relative);
Json json_summary(const ResultSummary& summary);

// Text of a document; bytes that are not UTF-8 (a path, say) are replaced.
std::string json_text(const Json& document);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// What is stored of an invocation that measures.
#pragma once

#include "db/record.h"
#include "tools/options.h"

namespace mla::tools {

// Of this process, now.
db::RunInfo run_info(const Options& options);

}  // namespace mla::tools

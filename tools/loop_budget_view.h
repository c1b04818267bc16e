// SPDX-License-Identifier: MIT
// The loop budget as a table for people.
#pragma once

#include <string>
#include <vector>

#include "tools/loop_budget.h"
#include "tools/term.h"

namespace mla::tools {

std::string budget_text(const DeviceInfo& device,
                        const std::vector<LoopBudget>& budgets,
                        const Terminal& terminal);

}  // namespace mla::tools

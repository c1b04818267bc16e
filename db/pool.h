// SPDX-License-Identifier: MIT
// Two winners of one shape as one. Private to db/.
#pragma once

#include <optional>

#include "db/record.h"

namespace mla::db {

// What the rounds of both say together; nothing where they do not add up: another finalist, default
// or reference, or one of them is demoted or to be verified again.
std::optional<WinnerRecord> pool(const WinnerRecord& a, const WinnerRecord& b);

// P[at least `wins` of `rounds` fair coins]: the one-sided sign test.
double sign_test(int rounds, int wins);

}  // namespace mla::db

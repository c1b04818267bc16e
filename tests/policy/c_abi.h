/* SPDX-License-Identifier: MIT
 * What c_abi.c offers to the C++ test: opens the files for an MI355X and plans batch 16 at 68,000
 * tokens.
 */
#pragma once

#include "policy/mla_policy.h"

#ifdef __cplusplus
extern "C"
#endif
    int
    plan_from_c(const char* const* paths, size_t path_count, mla_plan* plan);

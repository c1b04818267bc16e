// SPDX-License-Identifier: MIT
// The databases that are used where neither an argument nor MLA_TUNE_DB names any. Reads the
// environment, as settings.h does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mla::policy {

// Of the environment; `otherwise` where it is unset or empty.
std::string variable(const char* name, const char* otherwise = "");

// The paths of a list that is joined by ':'.
std::vector<std::string> split_paths(std::string_view list);

// mla-tune/tuned.db of the folders of XDG_DATA_DIRS, the last folder first, and of share/ beside
// the bin/ or lib/ that this code was loaded from: those that exist, a later one overrides.
std::vector<std::string> system_databases();

// $XDG_DATA_HOME/mla-tune/tuning.db, else the same in ~/.local/share; it need not exist. Empty
// where there is no home.
std::string user_database();

// The system's, then the user's if it exists.
std::vector<std::string> default_databases();

}  // namespace mla::policy

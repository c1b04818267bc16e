// SPDX-License-Identifier: MIT
// Where databases live, and the files that the program writes beside them.
#pragma once

#include <string>
#include <vector>

namespace mla::tools {

// --db where given, else $MLA_TUNE_DB (several joined by ':'), else the system's files and the
// user's own (policy/default_files.h). Later files win. Throws Error(kUsage) where nothing says
// where a database could be.
std::vector<std::string> database_paths(const std::vector<std::string>& given);

// The one that is written: the last that is named, else the user's own.
std::string written_database(const std::vector<std::string>& given);

// The same where an action has a use for one file only. Throws Error(kUsage) where --db names more.
std::string own_database(const std::vector<std::string>& given);

bool exists(const std::string& path);

// The whole file. Throws Error(kUsage) naming the path where it cannot be read, or is larger than
// any text that people review.
std::string read_file(const std::string& path);

// Replaces `path` by `text` in one step, so that a reader never sees half a file. Throws
// Error(kUsage) naming the path.
void write_file(const std::string& path, const std::string& text);

bool is_standard_output(const std::string& output);  // not named, or "-"

// What a verb was asked for: to the file of --output, else to standard output.
void write_result(const std::string& output, const std::string& text);

// The running program, to be started again as a worker.
std::string self_executable();

}  // namespace mla::tools

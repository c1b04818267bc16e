// SPDX-License-Identifier: MIT
// Pieces of Markdown that the writers share.
#pragma once

#include <string>
#include <vector>

namespace mla::tools {

// A '|' or a line break in a stored text would end the cell.
std::string markdown_cell(const std::string& text);
std::string markdown_code(const std::string& text);
std::string markdown_row(const std::vector<std::string>& cells);
// The titles and the rule below them.
std::string markdown_head(const std::vector<std::string>& titles);

}  // namespace mla::tools

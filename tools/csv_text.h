// SPDX-License-Identifier: MIT
// Pieces of CSV (RFC 4180) that the writers share. Provenance goes in front as '#' lines, which the
// replay device skips.
#pragma once

#include <string>
#include <vector>

namespace mla::tools {

std::string csv_line(const std::vector<std::string>& fields);
std::string csv_comment(std::string text);
// Six significant digits.
std::string csv_number(double value);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// Comma separated values as RFC 4180 has them (quoted cells, "" for a quote, LF or CRLF), with
// lines that start with '#' as comments between rows. The text is untrusted input: every mistake is
// an Error(kUsage) naming file:line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mla::tuner {

struct CsvRow {
  int line = 0;  // of the row's first character, from 1
  std::vector<std::string> cells;
};

struct CsvFile {
  std::string name;                   // for errors
  std::vector<std::string> comments;  // without the '#'
  CsvRow header;                      // names, distinct and not empty
  std::vector<CsvRow> rows;           // as many cells as the header has
};

CsvFile parse_csv(std::string_view text, const std::string& name);

}  // namespace mla::tuner

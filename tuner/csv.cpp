// SPDX-License-Identifier: MIT
#include "tuner/csv.h"

#include <algorithm>
#include <set>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::tuner {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool at_end() const { return at_ == text_.size(); }
  int line() const { return line_; }

  // The rest of the line, its end consumed.
  std::string_view take_line() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    ++line_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  bool at_comment() const { return text_[at_] == '#'; }
  bool at_empty_line() const {
    return text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n" || text_.substr(at_) == "\r";
  }

  CsvRow take_row() {
    CsvRow row;
    row.line = line_;
    do {
      row.cells.push_back(!at_end() && text_[at_] == '"' ? quoted_cell() : plain_cell());
    } while (!end_of_row());
    return row;
  }

  [[noreturn]] void fail(int line, const std::string& why) const {
    throw Error(ErrorCode::kUsage, name_ + ":" + std::to_string(line) + ": " + why);
  }

 private:
  std::string plain_cell() {
    const size_t end = std::min(text_.find_first_of(",\r\n\"", at_), text_.size());
    if (end < text_.size() && text_[end] == '"') fail(line_, "a quote inside an unquoted cell");
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted_cell() {
    const int first_line = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != '"') {
        cell += c;
      } else if (text_.substr(at_, 2) == "\"\"") {
        cell += '"';
        ++at_;
      } else {
        ++at_;
        return cell;
      }
    }
    fail(first_line, "a quoted cell that does not end");
  }

  // Consumes a comma (false) or the end of the row (true).
  bool end_of_row() {
    if (at_end()) return true;
    if (text_[at_] == ',') {
      ++at_;
      return false;
    }
    if (!at_empty_line()) fail(line_, "expected a comma or the end of the line after a cell");
    take_line();
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  int line_ = 1;
};

void check_header(const Reader& reader, const CsvRow& header) {
  std::set<std::string> seen;
  for (const std::string& column : header.cells) {
    if (column.empty()) reader.fail(header.line, "a column without a name");
    if (!seen.insert(column).second)
      reader.fail(header.line, "column " + in_quotes(column) + ": there are two of them");
  }
}

}  // namespace

CsvFile parse_csv(std::string_view text, const std::string& name) {
  Reader reader(text, name);
  CsvFile file;
  file.name = name;
  while (!reader.at_end()) {
    if (reader.at_comment()) {
      file.comments.emplace_back(reader.take_line().substr(1));
    } else if (reader.at_empty_line()) {
      reader.take_line();
    } else if (file.header.cells.empty()) {
      file.header = reader.take_row();
      check_header(reader, file.header);
    } else {
      CsvRow row = reader.take_row();
      if (row.cells.size() != file.header.cells.size())
        reader.fail(row.line,
                    "expected " + std::to_string(file.header.cells.size()) + " cells, found " +
                        std::to_string(row.cells.size()));
      file.rows.push_back(std::move(row));
    }
  }
  if (file.header.cells.empty()) reader.fail(reader.line(), "no header line");
  return file;
}

}  // namespace mla::tuner

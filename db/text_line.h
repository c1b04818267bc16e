// SPDX-License-Identifier: MIT
// One line of the text form: words, then key=value pairs, texts in quotes. Private to db/.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "db/fields.h"

namespace mla::db {

// What is wrong with a line, without its place.
class BadLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ` key="text"` or ` key=number`.
std::string to_text(const Field& field);

class TextLine {
 public:
  // Throws BadLine.
  explicit TextLine(std::string_view line);

  const std::string& kind() const { return kind_; }  // the first word

  // Each getter takes its key; all throw BadLine.
  int64_t number();  // the word behind the kind
  int64_t integer(std::string_view key);
  std::string text(std::string_view key);
  // The columns of `like` with the types of its values.
  Fields fields(const Fields& like);
  // Nothing may be left.
  void finish() const;

 private:
  struct Written {
    std::string value;
    bool quoted = false;
  };
  Written take(std::string_view key);

  std::string kind_;
  std::string number_;
  std::map<std::string, Written, std::less<>> values_;
};

}  // namespace mla::db

// SPDX-License-Identifier: MIT
// The options behind a simulated source's spec: "key=value,key=value". Every mistake is an
// Error(kUsage) that names the option.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mla::tuner {

class SpecOptions {
 public:
  // `source` ("replay") goes into errors. An empty text has no options.
  SpecOptions(std::string_view source, std::string_view text);

  // "0.3%" and "0.003" are the same fraction; within [0, 1].
  double fraction(const std::string& key, double otherwise);
  int64_t integer(const std::string& key, int64_t otherwise, int64_t low, int64_t high);
  uint64_t seed(uint64_t otherwise);
  bool has(const std::string& key) const { return values_.count(key) != 0; }

  // Throws for options that nothing asked for.
  void finish() const;

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& why) const;
  const std::string* take(const std::string& key);

  std::string source_;
  std::map<std::string, std::string> values_;
  std::map<std::string, bool> known_;
};

}  // namespace mla::tuner

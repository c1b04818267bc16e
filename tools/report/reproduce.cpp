// SPDX-License-Identifier: MIT
#include "tools/report/reproduce.h"

#include <fmt/format.h>

#include "tools/options.h"
#include "tools/run_result.h"

namespace mla::tools {

std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  bool inside = false;  // a word
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == '\\' && !quoted && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string device_spec_of(const std::string& command_line) {
  const std::string option = "--device";
  const std::vector<std::string> words = shell_words(command_line);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].rfind(option + "=", 0) == 0) return words[i].substr(option.size() + 1);
  }
  return "";
}

std::string reproduce_command(const std::string& run_command_line,
                              const Problem& problem,
                              const KernelConfig& config) {
  const std::string device = device_spec_of(run_command_line);
  return fmt::format("mla-tune bench {}{} --config {}",
                     device.empty() ? "" : "--device " + shell_quoted({device}) + " ",
                     shape_options(problem),
                     shell_quoted({to_text(config)}));
}

}  // namespace mla::tools

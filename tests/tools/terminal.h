// SPDX-License-Identifier: MIT
// The built mla-tune on a terminal of its own, and what is then to be read there.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mla::testing {

struct Screen {
  int status = -1;
  std::string raw;                 // every byte that was written
  std::vector<std::string> lines;  // in the end, without colours; rewritten lines as they last were
  size_t widest = 0;               // of all that was ever shown, in columns
  size_t widest_rewritten = 0;     // of the lines that were rewritten
  bool cursor_moved = false;       // a line was rewritten in place
  bool coloured = false;
};

// Standard output and error are one terminal of so many columns. `environment` is all of it, beside
// PATH and TERM=xterm.
Screen on_terminal(const std::vector<std::string>& args,
                   int columns,
                   const std::map<std::string, std::string>& environment = {});

}  // namespace mla::testing

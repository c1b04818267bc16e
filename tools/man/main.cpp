// SPDX-License-Identifier: MIT
// Writes the scdoc source of one manual page; run by the build.
//
//   write_man OUTPUT VERSION program
//   write_man OUTPUT VERSION format FORMAT.md
//   write_man OUTPUT VERSION header NAME WHAT HEADER...
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "kernels/error.h"
#include "tools/man/pages.h"
#include "tools/paths.h"

namespace mla::tools {
namespace {

std::string page(const std::string& version, const std::vector<std::string>& args) {
  if (args.size() == 1 && args[0] == "program") {
    return program_page(
        {"mla-tune", 1, "measured launch configurations of MLA decode attention", version});
  }
  if (args.size() == 2 && args[0] == "format") {
    return markdown_page({"mla-tune.db", 5, "the tuning database of mla-tune", version},
                         read_file(args[1]));
  }
  if (args.size() >= 4 && args[0] == "header") {
    std::vector<Header> headers;
    for (size_t i = 3; i < args.size(); ++i) {
      headers.push_back({std::filesystem::path(args[i]).filename().string(), read_file(args[i])});
    }
    return header_page({args[1], 3, args[2], version}, headers);
  }
  throw Error(ErrorCode::kUsage, "write_man OUTPUT VERSION program|format|header ...");
}

}  // namespace
}  // namespace mla::tools

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() < 3) throw mla::Error(mla::ErrorCode::kUsage, "too few arguments");
    mla::tools::write_file(args[0], mla::tools::page(args[1], {args.begin() + 2, args.end()}));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "write_man: {}\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: MIT
#include "policy/default_files.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace mla::policy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFile = "mla-tune/tuned.db";

// The library or, where it is linked statically, the program. Empty where it cannot be told.
fs::path this_binary() {
  Dl_info info{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&system_databases), &info) != 0 &&
      info.dli_fname != nullptr && *info.dli_fname == '/') {
    return fs::canonical(info.dli_fname, error);
  }
  return fs::read_symlink("/proc/self/exe", error);
}

void add_if_there(const fs::path& path, std::vector<fs::path>* found) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || std::find(found->begin(), found->end(), real) != found->end()) return;
  found->push_back(real);
}

}  // namespace

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::vector<std::string> split_paths(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

std::vector<std::string> system_databases() {
  std::vector<std::string> folders =
      split_paths(variable("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
  std::reverse(folders.begin(), folders.end());
  std::vector<fs::path> found;
  for (const std::string& folder : folders) {
    // The XDG specification: a relative path is to be ignored.
    if (folder.front() == '/') add_if_there(fs::path(folder) / kSystemFile, &found);
  }
  // Of an unknown binary it would be a file of the current folder, which anyone may have put there.
  const fs::path binary = this_binary();
  if (binary.is_absolute())
    add_if_there(binary.parent_path().parent_path() / "share" / kSystemFile, &found);
  return {found.begin(), found.end()};
}

std::string user_database() {
  std::string data = variable("XDG_DATA_HOME");
  if (data.empty() || data.front() != '/') {
    const std::string home = variable("HOME");
    if (home.empty()) return "";
    data = home + "/.local/share";
  }
  return data + "/mla-tune/tuning.db";
}

std::vector<std::string> default_databases() {
  std::vector<std::string> paths = system_databases();
  const std::string own = user_database();
  std::error_code error;
  if (!own.empty() && fs::exists(own, error)) paths.push_back(own);
  return paths;
}

}  // namespace mla::policy

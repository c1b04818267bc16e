// SPDX-License-Identifier: MIT
#include "tools/paths.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernels/error.h"
#include "policy/default_files.h"

namespace mla::tools {
namespace {

std::string user_database() {
  const std::string path = policy::user_database();
  if (!path.empty()) return path;
  throw Error(ErrorCode::kUsage, "--db: needed, since neither MLA_TUNE_DB nor HOME is set");
}

std::vector<std::string> named_databases() {
  const char* list = std::getenv("MLA_TUNE_DB");
  return policy::split_paths(list == nullptr ? "" : list);
}

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorCode::kUsage, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

bool is_special(const std::string& path) {  // a pipe or a terminal cannot be replaced
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

void write_all(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) fail(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) fail(path);
}

}  // namespace

std::vector<std::string> database_paths(const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  std::vector<std::string> paths = named_databases();
  if (paths.empty()) paths = policy::default_databases();
  if (paths.empty()) paths.push_back(user_database());
  return paths;
}

std::string written_database(const std::vector<std::string>& given) {
  if (!given.empty()) return given.back();
  const std::vector<std::string> named = named_databases();
  return named.empty() ? user_database() : named.back();
}

std::string own_database(const std::vector<std::string>& given) {
  if (given.size() > 1) throw Error(ErrorCode::kUsage, "--db: takes one file here");
  return written_database(given);
}

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

std::string read_file(const std::string& path) {
  constexpr std::streamsize kMaxBytes = 256 << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(file.gcount()));
    if (static_cast<std::streamsize>(text.size()) > kMaxBytes) {
      throw Error(ErrorCode::kUsage, fmt::format("{}: is larger than 256 MiB", path));
    }
  }
  if (!file.eof()) {
    throw Error(ErrorCode::kUsage, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  if (is_special(path)) return write_all(path, text);
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  try {
    write_all(temporary, text);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path);
  } catch (const Error&) {
    const int reason = errno;
    std::remove(temporary.c_str());
    errno = reason;
    fail(path);
  }
}

bool is_standard_output(const std::string& output) {
  return output.empty() || output == "-";
}

void write_result(const std::string& output, const std::string& text) {
  if (is_standard_output(output)) {
    fmt::print("{}", text);
  } else {
    write_file(output, text);
  }
}

std::string self_executable() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "/proc/self/exe" : path.string();
}

}  // namespace mla::tools

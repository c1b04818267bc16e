// SPDX-License-Identifier: MIT
#include "tools/run_info.h"

#include <unistd.h>

#include <ctime>

namespace mla::tools {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-01-01T00:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

db::RunInfo run_info(const Options& options) {
  db::RunInfo run;
  run.started_utc = utc_now();
  run.host = host_name();
  run.command_line = options.command_line;
  run.seed = options.seed;
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  run.free_memory_bytes = pages > 0 ? int64_t{pages} * sysconf(_SC_PAGESIZE) : 0;
  return run;
}

}  // namespace mla::tools

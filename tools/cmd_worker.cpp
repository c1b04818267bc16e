// SPDX-License-Identifier: MIT
// `mla-tune worker --device SPEC --parent PID`: the process that tuner/worker_source.h starts.
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "kernels/text.h"
#include "tools/commands.h"
#include "tuner/live_source.h"
#include "tuner/worker_faults.h"
#include "tuner/worker_server.h"

int worker_main(int argc, char** argv) {
  using namespace mla;
  int64_t parent = 0;
  if (argc != 6 || std::string_view(argv[2]) != "--device" ||
      std::string_view(argv[4]) != "--parent" || !parse_int(argv[5], &parent)) {
    tools::say(stderr, "mla-tune worker: is started by mla-tune run, not by hand\n");
    return tools::kUsageError;
  }
  if (!tuner::become_worker(static_cast<pid_t>(parent))) return tools::kNegativeAnswer;
  const std::string spec = argv[3];
  tuner::serve_worker(STDIN_FILENO, [&spec] {
    return std::make_unique<tuner::LiveSource>(tuner::open_worker_device(spec));
  });
  return tools::kDone;
}

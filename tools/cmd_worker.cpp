// SPDX-License-Identifier: MIT
#include "tools/cmd_worker.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

#include "kernels/error.h"
#include "kernels/text.h"
#include "tuner/live_source.h"
#include "tuner/worker_faults.h"
#include "tuner/worker_server.h"

namespace mla::tools {

int worker_main(int argc, char** argv) {
  int64_t parent = 0;
  if (argc != 6 || std::string_view(argv[2]) != "--device" ||
      std::string_view(argv[4]) != "--parent" || !parse_int(argv[5], &parent)) {
    throw Error(ErrorCode::kUsage, "worker: mla-tune starts it itself, with --device and --parent");
  }
  if (!tuner::become_worker(static_cast<pid_t>(parent))) return 1;
  const std::string spec = argv[3];
  tuner::serve_worker(STDIN_FILENO, [&spec] {
    return std::make_unique<tuner::LiveSource>(tuner::open_worker_device(spec));
  });
  return 0;
}

}  // namespace mla::tools

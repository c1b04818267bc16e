// SPDX-License-Identifier: MIT
// `mla-tune worker --device SPEC --parent PID`: the process that WorkerSource starts. Not for
// people.
#pragma once

namespace mla::tools {

// Takes main's arguments. Returns the exit status; throws Error(kUsage) for other arguments.
int worker_main(int argc, char** argv);

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// The worker's side of the protocol: what `mla-tune worker` runs.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "tuner/source.h"

namespace mla::tuner {

// Makes this process end with its parent, be the first that the kernel takes when memory runs out,
// and write no core file (of a pool of many GiB). False where `parent` is gone already.
bool become_worker(pid_t parent);

using SourceOpener = std::function<std::unique_ptr<CandidateSource>()>;

// Opens the source, says hello on `fd` (a stream socket, closed at the end) and answers requests
// until the other end closes or the device is lost. An exception becomes an error line.
void serve_worker(int fd, const SourceOpener& open);

}  // namespace mla::tuner

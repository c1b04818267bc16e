// SPDX-License-Identifier: MIT
// Launches the decode kernels on arguments that somebody else owns: no workload, no output, no
// workspace of its own. What the decode C ABI stands on; the tuner measures through device.h.
#pragma once

#include <memory>
#include <string>

#include "kernels/decode_params.h"
#include "kernels/outcome.h"
#include "kernels/space.h"

namespace mla {

// Not thread-safe: one launch at a time.
class DecodeLauncher {
 public:
  virtual ~DecodeLauncher() = default;

  virtual const Space& space() const = 0;

  // Alignment of the KV rows and the output, in bytes.
  virtual int64_t row_alignment() const = 0;

  // Queues one launch whose configuration is legal in space(); `stream` is the backend's own, null
  // where there is none. Allocates nothing and does not wait for a device. Throws Error(kUsage) for
  // a stream that cannot be meant, Error(kDevice) where the device is lost.
  virtual Outcome launch(const DecodeParams& params, const KernelConfig& config, void* stream) = 0;
};

// The specs and errors of open_device().
std::unique_ptr<DecodeLauncher> open_decode_launcher(const std::string& spec);

}  // namespace mla

// SPDX-License-Identifier: MIT
// Launches into the caller's stream: what the decode C ABI needs of a GPU, without the buffers that
// measuring takes.
#include "kernels/hip/hip_device.h"
#include "kernels/hip/hip_executor.cuh"
#include "kernels/spaces.h"

namespace mla::hip {
namespace {

// The current device of the calling thread, put back at the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal) {
    check(hipGetDevice(&before_), "current device");
    check(hipSetDevice(ordinal), "hip:" + std::to_string(ordinal));
  }
  ~CurrentDevice() { static_cast<void>(hipSetDevice(before_)); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

class HipLauncher : public DecodeLauncher {
 public:
  explicit HipLauncher(const Gpu& gpu) : ordinal_(gpu.ordinal), space_(make_space(gpu.info)) {
    const CurrentDevice here(ordinal_);
    init_launcher(ordinal_, space_.device(), &launcher_);
  }

  const Space& space() const override { return space_; }
  int64_t row_alignment() const override { return 16; }

  Outcome launch(const DecodeParams& params, const KernelConfig& config, void* stream) override {
    int current = -1;
    check(hipGetDevice(&current), "current device");
    if (current != ordinal_) {
      throw Error(ErrorCode::kUsage,
                  "the current device is hip:" + std::to_string(current) +
                      ", not hip:" + std::to_string(ordinal_));
    }
    return launch_outcome(launcher_.decode(params, config, static_cast<hipStream_t>(stream)));
  }

 private:
  int ordinal_;
  Space space_;
  gpu::Launcher launcher_;
};

}  // namespace

std::unique_ptr<DecodeLauncher> open_hip_launcher(const std::string& spec) {
  return std::make_unique<HipLauncher>(find_gpu(spec));
}

}  // namespace mla::hip

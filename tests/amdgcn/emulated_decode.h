// SPDX-License-Identifier: MIT
// A decode launch on the emulator: the program's own kernels in the grids that its launcher would
// use, over buffers that are poisoned before, bounded exactly and followed by canaries.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/amd_plan.h"
#include "kernels/known_devices.h"
#include "kernels/spaces.h"
#include "kernels/workload.h"
#include "tests/amdgcn/code_objects.h"
#include "tests/support/decode_cases.h"

namespace mla::test {

class EmulatedGpu {
 public:
  // folder: of the code objects, stage1_n16_s3_partial.gfx942.co, ..., stage2.gfx942.co.
  EmulatedGpu(std::string arch, std::string folder = MLA_AMD_CODE_OBJECTS);

  const std::string& arch() const { return arch_; }

  // Throws amdgcn::Fault for what the hardware would do wrong, Error for a canary that was written.
  Output decode(const Workload& workload,
                const KernelConfig& config,
                amdgcn::Mode mode,
                bool with_lse = true);
  // The same with other parameters; out, lse and workspace are set here.
  Output decode(const Workload& workload,
                DecodeParams params,
                const KernelConfig& config,
                amdgcn::Mode mode,
                bool with_lse = true);
  void copy_only(const Workload& workload, const KernelConfig& config, amdgcn::Mode mode);

  const amdgcn::Kernel& kernel(const AmdStage1& key);
  uint64_t instructions() const { return instructions_; }

 private:
  const amdgcn::CodeObject& stage1(const AmdStage1& key);
  const amdgcn::CodeObject& load(const std::string& name);
  void run(const amdgcn::CodeObject& code,
           const std::string& kernel,
           const AmdLaunch& plan,
           const DecodeParams& params,
           const KernelConfig& config,
           const amdgcn::MemoryMap& memory,
           amdgcn::Mode mode);

  std::string arch_;
  std::string folder_;
  std::map<std::string, amdgcn::CodeObject> code_objects_;
  uint64_t instructions_ = 0;
};

// Of the program's own code objects, which are read once.
EmulatedGpu& emulated_gpu(const std::string& arch);

// The known device of an architecture.
DeviceInfo device_of(const std::string& arch);

// Legal for one split of a problem, one for each compiled shape of stage 1.
std::vector<KernelConfig> stage1_shapes(const std::string& arch);

}  // namespace mla::test

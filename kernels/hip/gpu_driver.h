// SPDX-License-Identifier: MIT
// The kernel module that drives this machine's GPUs, as /sys names it. Plain C++.
#pragma once

#include <filesystem>
#include <string>

namespace mla::hip {

// "nvidia 580.95.05", or "amdgpu of the kernel" where the module has no version of its own; empty
// without one. `root` is "/" but in tests.
std::string gpu_driver(const std::filesystem::path& root = "/");

}  // namespace mla::hip

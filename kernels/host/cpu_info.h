// SPDX-License-Identifier: MIT
// What the operating system tells about the CPU this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace mla::host {

std::string cpu_name();  // from /proc/cpuinfo; the architecture where that has none
std::string cpu_arch();  // "x86-64", "aarch64", or what uname says
int usable_threads();    // size of the affinity mask
int64_t physical_memory_bytes();
// Of one instance of the largest cache in /sys; 0 where the kernel does not list it.
int64_t listed_cache_bytes();

}  // namespace mla::host

// SPDX-License-Identifier: MIT
// The state of NVIDIA GPUs from NVML, the library of the driver. Loaded at run time, since neither
// a build machine nor a machine without such a GPU has it. Names and numbers are those of NVML's
// stable interface.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "tools/doctor/finding.h"

namespace mla::tools {
namespace {

constexpr const char* kClocks = "clocks";
constexpr unsigned kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
constexpr unsigned kGpuTemperature = 0;             // nvmlTemperatureSensors_t
constexpr int kInsufficientSize = 7;                // NVML_ERROR_INSUFFICIENT_SIZE

struct Reason {
  uint64_t bit;
  const char* text;
  bool moves_times;  // under load; an idle GPU lowers its clocks by itself
};
constexpr Reason kReasons[] = {{0x1, "idle", false},
                               {0x2, "application clocks", false},
                               {0x4, "power cap", true},
                               {0x8, "hardware slowdown", true},
                               {0x10, "clocks synchronised with another GPU", true},
                               {0x20, "temperature (driver)", true},
                               {0x40, "temperature (hardware)", true},
                               {0x80, "power brake", true},
                               {0x100, "display clocks", false}};

class Nvml {
 public:
  explicit Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL), close) {
    if (library_ && call("nvmlInit_v2") != 0) library_.reset();
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (library_) call("nvmlShutdown");
  }
  explicit operator bool() const { return library_ != nullptr; }

  // The function's status, 0 for success; -1 where this driver does not have it.
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const {
    void* const symbol = dlsym(library_.get(), function);
    if (symbol == nullptr) return -1;
    return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
  }

 private:
  static void close(void* library) {
    if (library != nullptr) dlclose(library);
  }
  std::unique_ptr<void, void (*)(void*)> library_;
};

std::string reasons_text(uint64_t reasons, bool* moves_times) {
  std::string text;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(reason.text);
    *moves_times = *moves_times || reason.moves_times;
  }
  return text.empty() ? "none" : text;
}

Finding clocks(const Nvml& nvml, void* gpu, const std::string& name) {
  unsigned sm_mhz = 0, sm_max_mhz = 0, memory_mhz = 0, temperature_c = 0;
  uint64_t reasons = 0;
  nvml.call("nvmlDeviceGetClockInfo", gpu, kSmClock, &sm_mhz);
  nvml.call("nvmlDeviceGetMaxClockInfo", gpu, kSmClock, &sm_max_mhz);
  nvml.call("nvmlDeviceGetClockInfo", gpu, kMemoryClock, &memory_mhz);
  nvml.call("nvmlDeviceGetTemperature", gpu, kGpuTemperature, &temperature_c);
  const bool known = nvml.call("nvmlDeviceGetCurrentClocksThrottleReasons", gpu, &reasons) == 0;
  bool moves_times = false;
  const std::string why = known ? reasons_text(reasons, &moves_times) : "not readable";
  return {kClocks,
          name,
          moves_times ? Health::kWarning : Health::kOk,
          fmt::format("SM {} of {} MHz, memory {} MHz, {} C, lowered by: {}",
                      sm_mhz,
                      sm_max_mhz,
                      memory_mhz,
                      temperature_c,
                      why),
          moves_times ? "clocks are held down: cool the GPU or raise its power limit" : ""};
}

Finding persistence(const Nvml& nvml, void* gpu, const std::string& name) {
  unsigned on = 0;
  const bool known = nvml.call("nvmlDeviceGetPersistenceMode", gpu, &on) == 0;
  return {kClocks,
          name + " persistence",
          on != 0 || !known ? Health::kOk : Health::kNote,
          !known    ? "not readable"
          : on != 0 ? "on"
                    : "off",
          on != 0 || !known ? "" : "every start loads the driver anew: nvidia-smi -pm 1"};
}

Finding other_processes(const Nvml& nvml, void* gpu, const std::string& name) {
  unsigned count = 0;
  const int status = nvml.call(
      "nvmlDeviceGetComputeRunningProcesses_v3", gpu, &count, static_cast<void*>(nullptr));
  const bool known = status == 0 || status == kInsufficientSize;
  return {kClocks,
          name + " processes",
          count > 0 ? Health::kWarning : Health::kOk,
          known ? fmt::format("{} use this GPU", count) : "not readable",
          count > 0 ? "measure on a GPU that nobody else uses" : ""};
}

}  // namespace

Findings nvidia_findings(const char* library) {
  const Nvml nvml(library);
  unsigned count = 0;
  if (!nvml || nvml.call("nvmlDeviceGetCount_v2", &count) != 0) return {};
  Findings findings;
  for (unsigned index = 0; index < count; ++index) {
    void* gpu = nullptr;
    if (nvml.call("nvmlDeviceGetHandleByIndex_v2", index, &gpu) != 0) continue;
    const std::string name = fmt::format("GPU {}", index);
    findings.push_back(clocks(nvml, gpu, name));
    findings.push_back(persistence(nvml, gpu, name));
    findings.push_back(other_processes(nvml, gpu, name));
  }
  return findings;
}

}  // namespace mla::tools

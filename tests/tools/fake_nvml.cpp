// SPDX-License-Identifier: MIT
// A library with NVML's functions for two GPUs that do not exist: the second is hot and in use.
extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  static int gpus[2] = {0, 1};
  *gpu = &gpus[index];
  return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1500 : 3201;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* mhz) {
  *mhz = 1980;
  return 0;
}
int nvmlDeviceGetTemperature(void* gpu, unsigned, unsigned* celsius) {
  *celsius = *static_cast<int*>(gpu) == 1 ? 91 : 35;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* gpu, unsigned long long* reasons) {
  *reasons = *static_cast<int*>(gpu) == 1 ? 0x4 | 0x40 : 0x1;
  return 0;
}
int nvmlDeviceGetPersistenceMode(void*, unsigned* on) {
  *on = 1;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* gpu, unsigned* count, void*) {
  *count = *static_cast<int*>(gpu) == 1 ? 3 : 0;
  return *count == 0 ? 0 : 7;
}
}

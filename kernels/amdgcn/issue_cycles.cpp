// SPDX-License-Identifier: MIT
#include "kernels/amdgcn/issue_cycles.h"

#include <algorithm>
#include <array>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

constexpr int kLanes = 64;

// A SIMD has 16 lanes, so an instruction of a wave takes four cycles (ROCm Compute Profiler,
// "Pipeline descriptions"); one scalar instruction may issue in that time.
constexpr double kSlot = kLanes / 16.0;
// Transcendental functions and 32-bit integer products run at a quarter of the rate (LLVM,
// SISchedule.td: WriteTrans32, WriteIntMul); 64-bit integers take two passes.
constexpr double kQuarterRate = 4 * kSlot;
constexpr double kTwoPasses = 2 * kSlot;

// 32 banks of 4 bytes on gfx942 (CDNA3 ISA, "LDS"). gfx950 has twice as many, which the widest
// reads use (AMD on CDNA4: read bandwidth 256 bytes a cycle).
constexpr double kLdsBytes = 128;
constexpr double kLdsWideReadBytes = 256;

// Address unit: 16 lanes a cycle. L1: 64 bytes a cycle (ROCm Compute Profiler, "Vector L1 cache").
constexpr double kAddresses = 16;
constexpr double kL1Bytes = 64;

// Passes of four cycles (CDNA3 and CDNA4 ISA, "Dependency resolution: required independent
// instructions"). Each gives the product page's peak: 1,307 TFLOP/s bf16 on MI300X, 2,517 on
// MI355X.
struct MfmaRate {
  const char* mnemonic;
  int passes;
};
constexpr std::array<MfmaRate, 4> kMfmaRates = {{{"v_mfma_f32_16x16x16_bf16", 4},
                                                 {"v_mfma_f32_32x32x8_bf16", 8},
                                                 {"v_mfma_f32_16x16x32_bf16", 4},
                                                 {"v_mfma_f32_32x32x16_bf16", 8}}};

double mfma_cycles(const Instruction& instruction) {
  for (const MfmaRate& rate : kMfmaRates) {
    if (instruction.mnemonic == rate.mnemonic) return kSlot * rate.passes;
  }
  throw Error(ErrorCode::kUsage, "no rate is known for " + in_quotes(instruction.text));
}

template <size_t kCount>
bool starts_with_any(std::string_view text, const std::array<const char*, kCount>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) {
    return starts_with(text, prefix);
  });
}

double valu_cycles(const std::string& mnemonic) {
  static constexpr auto kQuarter = std::to_array<const char*>({"v_exp_f",
                                                               "v_log_f",
                                                               "v_rcp_",
                                                               "v_rsq_",
                                                               "v_sqrt_",
                                                               "v_sin_",
                                                               "v_cos_",
                                                               "v_mul_lo_u32",
                                                               "v_mul_hi_",
                                                               "v_mad_u64_u32",
                                                               "v_mad_i64_i32"});
  static constexpr auto kTwice = std::to_array<const char*>({"v_lshlrev_b64",
                                                             "v_lshrrev_b64",
                                                             "v_ashrrev_i64",
                                                             "v_lshl_add_u64",
                                                             "v_permlane16_swap",
                                                             "v_permlane32_swap"});
  if (starts_with_any(mnemonic, kQuarter)) return kQuarterRate;
  return starts_with_any(mnemonic, kTwice) ? kTwoPasses : kSlot;
}

bool is_vmem(std::string_view mnemonic) {
  return starts_with_any(mnemonic, std::to_array<const char*>({"global_", "buffer_", "flat_"}));
}

double vmem_cycles(const Instruction& instruction) {
  return std::max(kLanes / kAddresses, kLanes * lane_bytes(instruction) / kL1Bytes);
}

double lds_cycles(const Instruction& instruction, const std::string& target) {
  const int bytes = lane_bytes(instruction);
  const bool wide_read = target == "gfx950" && starts_with(instruction.mnemonic, "ds_read") &&
                         (bytes == 16 || instruction.mnemonic.find("_tr_") != std::string::npos);
  return kLanes * bytes / (wide_read ? kLdsWideReadBytes : kLdsBytes);
}

// "b64", "dwordx4": what stands in a mnemonic and how many bytes it is. Narrower than a bank costs
// as much as one.
struct Width {
  const char* word;
  int bytes;
};
constexpr std::array<Width, 7> kWidths = {{{"dwordx4", 16},
                                           {"dwordx3", 12},
                                           {"dwordx2", 8},
                                           {"b128", 16},
                                           {"b96", 12},
                                           {"b64", 8},
                                           {"u64", 8}}};

// Scheduling, not executing: waits, barriers, branches, hints.
bool is_internal(std::string_view mnemonic) {
  return starts_with_any(mnemonic,
                         std::to_array<const char*>({"s_waitcnt",
                                                     "s_barrier",
                                                     "s_nop",
                                                     "s_branch",
                                                     "s_cbranch",
                                                     "s_setprio",
                                                     "s_sleep",
                                                     "s_endpgm",
                                                     "s_sched"}));
}

}  // namespace

PipeCycles& PipeCycles::operator+=(const PipeCycles& other) {
  mfma += other.mfma;
  valu += other.valu;
  salu += other.salu;
  lds += other.lds;
  vmem += other.vmem;
  return *this;
}

int lane_bytes(const Instruction& instruction) {
  const std::string& mnemonic = instruction.mnemonic;
  if (!is_vmem(mnemonic) && !starts_with(mnemonic, "ds_")) return 0;
  const bool two =
      mnemonic.find("read2") != std::string::npos || mnemonic.find("write2") != std::string::npos;
  for (const Width& width : kWidths) {
    if (mnemonic.find(width.word) != std::string::npos) return (two ? 2 : 1) * width.bytes;
  }
  return two ? 8 : 4;
}

PipeCycles issue_cycles(const Instruction& instruction, const std::string& target) {
  if (target != "gfx942" && target != "gfx950") {
    throw Error(ErrorCode::kUsage, "no rates are known for " + in_quotes(target));
  }
  const std::string& mnemonic = instruction.mnemonic;
  PipeCycles cycles;
  if (starts_with(mnemonic, "v_mfma_") || starts_with(mnemonic, "v_smfmac_")) {
    cycles.mfma = mfma_cycles(instruction);
  } else if (starts_with(mnemonic, "v_")) {
    cycles.valu = valu_cycles(mnemonic);
  } else if (starts_with(mnemonic, "ds_")) {
    cycles.lds = lds_cycles(instruction, target);
  } else if (is_vmem(mnemonic)) {
    cycles.vmem = vmem_cycles(instruction);
    if (is_load_to_lds(instruction)) cycles.lds = kLanes * lane_bytes(instruction) / kLdsBytes;
  } else if (!is_internal(mnemonic)) {
    cycles.salu = kSlot;
  }
  return cycles;
}

}  // namespace mla::amdgcn

// SPDX-License-Identifier: MIT
// Reading and writing 64 lanes under source modifiers, DPP, SDWA and the exec mask.
#include "tests/amdgcn/lanes.h"

#include <algorithm>

#include "kernels/error.h"

namespace mla::amdgcn {
namespace {

constexpr uint32_t kSign = 0x80000000u;

[[noreturn]] void unsupported(const char* what) {
  throw Error(ErrorCode::kDevice, what);
}

uint32_t part_of(uint32_t value, Sdwa::Part part, bool sign_extend) {
  const uint32_t shifted = value << (32 - part.shift - part.bits);
  const int down = 32 - part.bits;
  return sign_extend ? static_cast<uint32_t>(static_cast<int32_t>(shifted) >> down)
                     : shifted >> down;
}

// A lane whose source is no lane or an inactive one.
bool is_invalid(const Wave& wave, const Dpp& dpp, int lane) {
  return dpp.lane[lane] < 0 || (wave.exec() >> dpp.lane[lane] & 1) == 0;
}

void apply_float_modifiers(const Source& source, LaneType type, uint32_t* values) {
  if (!source.absolute && !source.negate) return;
  if (type != LaneType::kFloat) unsupported("a sign modifier on a source that is no float");
  for (int lane = 0; lane < kLanes; ++lane) {
    if (source.absolute) values[lane] &= ~kSign;
    if (source.negate) values[lane] ^= kSign;
  }
}

}  // namespace

const uint32_t* read_lanes(
    const Wave& wave, const Op& op, size_t operand, LaneType type, uint32_t* buffer) {
  const Source& source = op.operands[operand];
  const bool permuted = op.dpp && operand == 1;
  const bool partial = op.sdwa && operand >= 1 && operand <= 2;
  if (source.file == File::kVector) {
    const Lanes& lanes = wave.vectors[source.index];
    if (!source.negate && !source.absolute && !permuted && !partial) return lanes.data();
    std::copy(lanes.begin(), lanes.end(), buffer);
  } else if (source.file == File::kScalar) {
    std::fill_n(buffer, kLanes, wave.scalars[source.index]);
  } else if (source.file == File::kConstant) {
    std::fill_n(buffer, kLanes, static_cast<uint32_t>(source.bits));
  } else {
    unsupported("an operand that is neither a register nor a constant");
  }
  if (permuted) {
    Lanes before;
    std::copy_n(buffer, kLanes, before.begin());
    for (int lane = 0; lane < kLanes; ++lane) {
      buffer[lane] = is_invalid(wave, *op.dpp, lane) ? 0 : before[op.dpp->lane[lane]];
    }
  }
  if (partial) {
    const Sdwa::Part part = op.sdwa->sources[operand - 1];
    for (int lane = 0; lane < kLanes; ++lane) {
      buffer[lane] = part_of(buffer[lane], part, source.sign_extend);
    }
  }
  apply_float_modifiers(source, type, buffer);
  return buffer;
}

const uint64_t* read_lanes64(const Wave& wave, const Op& op, size_t operand, uint64_t* buffer) {
  const Source& source = op.operands[operand];
  if (op.dpp || op.sdwa || source.absolute || source.negate) {
    unsupported("DPP, SDWA or a sign modifier on a 64-bit source");
  }
  if (source.file == File::kVector) {
    const Lanes& low = wave.vectors[source.index];
    const Lanes& high = wave.vectors[source.index + 1];
    for (int lane = 0; lane < kLanes; ++lane) {
      buffer[lane] = low[lane] | static_cast<uint64_t>(high[lane]) << 32;
    }
  } else if (source.file == File::kScalar) {
    std::fill_n(buffer, kLanes, wave.scalar64(source.index));
  } else if (source.file == File::kConstant) {
    std::fill_n(buffer, kLanes, source.bits);
  } else {
    unsupported("an operand that is neither a register nor a constant");
  }
  return buffer;
}

uint64_t written_lanes(const Wave& wave, const Op& op) {
  uint64_t mask = wave.exec();
  if (!op.dpp) return mask;
  mask &= op.dpp->writable;
  if (op.dpp->zero_invalid) return mask;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (is_invalid(wave, *op.dpp, lane)) mask &= ~(uint64_t{1} << lane);
  }
  return mask;
}

void write_lanes(Wave& wave, const Op& op, size_t operand, const uint32_t* values) {
  const Source& target = op.operands[operand];
  if (target.file != File::kVector) unsupported("a destination that is no vector register");
  Lanes& lanes = wave.vectors[target.index];
  const uint64_t mask = written_lanes(wave, op);
  if (op.sdwa && op.sdwa->destination.bits < 32) {
    const Sdwa::Part part = op.sdwa->destination;
    const uint32_t field = ((uint32_t{1} << part.bits) - 1) << part.shift;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const uint32_t placed = values[lane] << part.shift & field;
      const uint32_t rest = op.sdwa->keep_rest ? lanes[lane] & ~field : 0;
      lanes[lane] = placed | rest;
    }
  } else if (mask == ~uint64_t{0}) {
    std::copy_n(values, kLanes, lanes.begin());
  } else {
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) != 0) lanes[lane] = values[lane];
    }
  }
}

void write_lanes64(Wave& wave, const Op& op, size_t operand, const uint64_t* values) {
  const Source& target = op.operands[operand];
  if (target.file != File::kVector) unsupported("a destination that is no vector register");
  const uint64_t mask = wave.exec();
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    wave.vectors[target.index][lane] = static_cast<uint32_t>(values[lane]);
    wave.vectors[target.index + 1][lane] = static_cast<uint32_t>(values[lane] >> 32);
  }
}

uint64_t read_mask(const Wave& wave, const Op& op, size_t operand) {
  const Source& source = op.operands[operand];
  if (source.file == File::kConstant) return source.bits;
  if (source.file != File::kScalar) unsupported("a lane mask that is no scalar pair");
  return wave.scalar64(source.index);
}

void write_mask(Wave& wave, const Op& op, size_t operand, uint64_t mask) {
  const Source& target = op.operands[operand];
  if (target.file != File::kScalar) unsupported("a lane mask that is no scalar pair");
  wave.set_scalar64(target.index, mask & wave.exec());
}

}  // namespace mla::amdgcn

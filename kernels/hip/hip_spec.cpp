// SPDX-License-Identifier: MIT
#include "kernels/hip/hip_spec.h"

#include <algorithm>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::hip {
namespace {

constexpr int64_t kMaxOrdinal = 1023;
constexpr int64_t kMaxXcds = 64;
constexpr size_t kMaxPartitionChars = 8;

bool is_mode_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPartitionChars &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

}  // namespace

HipSpec parse_hip_spec(const std::string& spec) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kUsage, "device " + in_quotes(spec) + ": " + why);
  };
  HipSpec result;
  if (spec == "hip") return result;
  const char* form = "expected hip or hip:N[,xcds=N][,partition=MODE]";
  if (spec.rfind("hip:", 0) != 0) fail(form);
  std::string_view rest = std::string_view(spec).substr(4);
  int64_t value = -1;
  if (!parse_int(rest.substr(0, rest.find(',')), &value) || value < 0 || value > kMaxOrdinal) {
    fail(form);
  }
  result.ordinal = static_cast<int>(value);
  while (rest.find(',') != std::string_view::npos) {
    rest.remove_prefix(rest.find(',') + 1);
    const std::string_view word = rest.substr(0, rest.find(','));
    if (word.rfind("xcds=", 0) == 0) {
      if (!parse_int(word.substr(5), &value) || value < 1 || value > kMaxXcds) {
        fail("xcds must be 1.." + std::to_string(kMaxXcds));
      }
      result.xcds = static_cast<int32_t>(value);
    } else if (word.rfind("partition=", 0) == 0) {
      if (!is_mode_name(word.substr(10))) fail("partition is a mode's name, such as CPX");
      result.partition = word.substr(10);
    } else {
      fail("unknown option " + in_quotes(word) + "; there are xcds=N and partition=MODE");
    }
  }
  return result;
}

void apply(const HipSpec& spec, DeviceInfo* info) {
  if (spec.xcds > 0) info->xcds = spec.xcds;
  if (!spec.partition.empty()) info->partition = spec.partition;
  if (info->xcds > 0) return;
  throw Error(ErrorCode::kDevice,
              "hip:" + std::to_string(spec.ordinal) +
                  ": HIP does not tell the XCDs of a GPU, and " + info->arch + " with " +
                  std::to_string(info->compute_units) +
                  " CUs is none of the parts known here; say hip:" + std::to_string(spec.ordinal) +
                  ",xcds=N");
}

}  // namespace mla::hip

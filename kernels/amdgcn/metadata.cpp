// SPDX-License-Identifier: MIT
// Depth alone tells what a key belongs to: kernels start at "  - ", their arguments at "      - ".
#include "kernels/amdgcn/metadata.h"

#include <utility>

#include "kernels/error.h"
#include "kernels/text.h"

namespace mla::amdgcn {
namespace {

constexpr size_t kKernelIndent = 4;
constexpr size_t kArgumentIndent = 8;

struct Line {
  size_t indent = 0;  // of the key
  bool starts_item = false;
  std::string_view key;
  std::string_view value;
};

Line parse_line(std::string_view text) {
  Line line;
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return line;
  text.remove_prefix(begin);
  line.indent = begin;
  if (starts_with(text, "- ")) {
    line.starts_item = true;
    line.indent += 2;
    text.remove_prefix(2);
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return line;
  line.key = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 1);
  line.value = next_word(&rest);
  if (line.value.size() >= 2 && line.value.front() == '\'' && line.value.back() == '\'') {
    line.value = line.value.substr(1, line.value.size() - 2);
  }
  return line;
}

int number(const Line& line) {
  int64_t value = 0;
  if (!parse_int(line.value, &value) || value != static_cast<int>(value)) {
    throw Error(ErrorCode::kUsage,
                "metadata: " + in_quotes(line.key) + " is not a number: " + in_quotes(line.value));
  }
  return static_cast<int>(value);
}

void set_kernel_field(const Line& line, KernelMetadata* kernel) {
  constexpr std::pair<std::string_view, int KernelMetadata::*> kNumbers[] = {
      {".vgpr_count", &KernelMetadata::vgprs},
      {".agpr_count", &KernelMetadata::agprs},
      {".sgpr_count", &KernelMetadata::sgprs},
      {".vgpr_spill_count", &KernelMetadata::vgpr_spills},
      {".sgpr_spill_count", &KernelMetadata::sgpr_spills},
      {".private_segment_fixed_size", &KernelMetadata::private_segment_bytes},
      {".group_segment_fixed_size", &KernelMetadata::static_lds_bytes},
      {".max_flat_workgroup_size", &KernelMetadata::max_workgroup_size},
      {".kernarg_segment_size", &KernelMetadata::kernarg_bytes},
  };
  if (line.key == ".name") kernel->name = std::string(line.value);
  for (const auto& [key, field] : kNumbers) {
    if (line.key == key) kernel->*field = number(line);
  }
}

void set_argument_field(const Line& line, KernelArgument* argument) {
  if (line.key == ".offset") argument->offset_bytes = number(line);
  if (line.key == ".size") argument->size_bytes = number(line);
  if (line.key == ".value_kind") argument->value_kind = std::string(line.value);
}

}  // namespace

Metadata parse_metadata(std::string_view notes) {
  Metadata metadata;
  const size_t begin = notes.find("amdhsa.kernels:");
  if (begin == std::string_view::npos) {
    throw Error(ErrorCode::kUsage, "no AMDGPU metadata note: not a code object");
  }
  std::string_view rest = notes.substr(begin);
  bool in_kernels = true;
  while (!rest.empty()) {
    const Line line = parse_line(next_line(&rest));
    if (line.key == "amdhsa.target") {
      metadata.target = std::string(line.value.substr(line.value.rfind('-') + 1));
      metadata.target = metadata.target.substr(0, metadata.target.find(':'));
    }
    if (line.indent == 0) in_kernels = line.key == "amdhsa.kernels";
    if (!in_kernels) continue;
    if (line.starts_item && line.indent == kKernelIndent) metadata.kernels.emplace_back();
    if (metadata.kernels.empty()) continue;
    KernelMetadata& kernel = metadata.kernels.back();
    if (line.indent == kKernelIndent) set_kernel_field(line, &kernel);
    if (line.indent != kArgumentIndent) continue;
    if (line.starts_item) kernel.arguments.emplace_back();
    if (!kernel.arguments.empty()) set_argument_field(line, &kernel.arguments.back());
  }
  return metadata;
}

}  // namespace mla::amdgcn

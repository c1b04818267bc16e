// SPDX-License-Identifier: MIT
// The kernels around decode on AMD: a pool that the device fills holds the rows that the host
// would have put there.
#define BOOST_TEST_MODULE amdgcn_pool_kernels
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "kernels/workload.h"
#include "tests/amdgcn/code_objects.h"

namespace {

using namespace mla;
using namespace mla::amdgcn;

constexpr size_t kRow = kHeadDim;
constexpr uint16_t kNan = 0xFFFF;
constexpr int64_t kPoolRows = 40;
const std::vector<int64_t> kRows = {3, 0, 39, 17};

CodeObject pool_kernels(const std::string& target) {
  return read_code_object(std::string(MLA_AMD_CODE_OBJECTS) + "/pool_kernels." + target + ".co",
                          {MLA_LLVM_OBJDUMP, MLA_LLVM_READOBJ});
}

// Symbols of C++ functions in an unnamed namespace.
std::string symbol(const CodeObject& code, const std::string& part) {
  for (const Kernel& kernel : code.kernels) {
    if (kernel.metadata.name.find(part) != std::string::npos) return kernel.metadata.name;
  }
  throw Error(ErrorCode::kInternal, "no kernel " + part);
}

// The pool after a launch with `workgroups` of 144 threads, the arguments made from it.
template <class MakeArguments>
std::vector<uint16_t> pool_after(const CodeObject& code,
                                 const std::string& kernel,
                                 const std::vector<uint16_t>& values,
                                 MakeArguments make_arguments) {
  std::vector<uint16_t> pool(kPoolRows * kRow, kNan);
  std::vector<int64_t> rows = kRows;
  std::vector<uint16_t> source = values;
  MemoryMap memory;
  add(&memory, pool, "pool");
  add(&memory, rows, "rows", Permission::kReadOnly);
  if (!source.empty()) add(&memory, source, "values", Permission::kReadOnly);
  Machine machine(code, memory);
  const Arguments arguments = make_arguments(source.data(), rows.data(), pool.data());
  const std::string name = symbol(code, kernel);
  const auto count = static_cast<uint32_t>(rows.size());
  machine.run({name, {count}, {144}, 0, arguments.data(), arguments.size()}, kModes[0]);
  return pool;
}

}  // namespace

// clang once fused the multiplication and the subtraction of two functions, and the last bit of
// some elements was not the host's.
BOOST_AUTO_TEST_CASE(a_pool_filled_by_the_device_has_the_bits_of_one_filled_by_the_host) {
  constexpr uint64_t kSeed = 7;
  std::vector<uint16_t> expected(kPoolRows * kRow, kNan);
  for (const int64_t row : kRows) {
    fill_base_row(kSeed, row, expected.data() + static_cast<size_t>(row) * kRow);
  }
  for (const char* target : kTargets) {
    const auto pool = pool_after(
        pool_kernels(target),
        "fill_kernelIt",
        {},
        [](const uint16_t*, int64_t* rows, uint16_t* to) { return Arguments(kSeed, rows, to); });
    BOOST_CHECK_MESSAGE(pool == expected, target);
  }
}

BOOST_AUTO_TEST_CASE(
    a_pool_of_fp8_rows_filled_by_the_device_has_the_bits_of_one_filled_by_the_host) {
  constexpr uint64_t kSeed = 7;
  std::vector<uint16_t> expected(kPoolRows * kRow, kNan);
  std::vector<uint16_t> values(kRow);
  for (const int64_t row : kRows) {
    fill_base_row(kSeed, row, values.data());
    auto* bytes = reinterpret_cast<uint8_t*>(expected.data());
    store_row(KvDtype::kFp8, values.data(), bytes + static_cast<size_t>(row) * kRow);
  }
  for (const char* target : kTargets) {
    const auto pool = pool_after(
        pool_kernels(target),
        "fill_kernelIh",
        {},
        [](const uint16_t*, int64_t* rows, uint16_t* to) { return Arguments(kSeed, rows, to); });
    BOOST_CHECK_MESSAGE(pool == expected, target);
  }
}

BOOST_AUTO_TEST_CASE(scattered_rows_arrive_where_they_belong_and_nowhere_else) {
  std::vector<uint16_t> values(kRows.size() * kRow);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
  std::vector<uint16_t> expected(kPoolRows * kRow, kNan);
  for (size_t i = 0; i < kRows.size(); ++i) {
    std::copy_n(values.data() + i * kRow, kRow, expected.data() + kRows[i] * kRow);
  }
  for (const char* target : kTargets) {
    const auto pool = pool_after(pool_kernels(target),
                                 "scatter_kernel",
                                 values,
                                 [](const uint16_t* from, int64_t* rows, uint16_t* to) {
                                   constexpr int kRowWords = kRow * sizeof *from / 4;
                                   return Arguments(from, rows, kRowWords, to);
                                 });
    BOOST_CHECK_MESSAGE(pool == expected, target);
  }
}

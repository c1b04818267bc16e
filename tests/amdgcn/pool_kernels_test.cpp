// SPDX-License-Identifier: MIT
// The kernels around decode on AMD: a pool that the device fills holds the rows that the host
// would have put there.
#define BOOST_TEST_MODULE amdgcn_pool_kernels
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "kernels/decode_params.h"
#include "kernels/workload.h"
#include "tests/amdgcn/code_objects.h"

namespace {

using namespace mla;
using namespace mla::amdgcn;

constexpr size_t kRow = kHeadDim;
constexpr uint16_t kNan = 0xFFFF;
constexpr int64_t kPoolRows = 40;
constexpr uint64_t kSeed = 7;
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

std::vector<uint16_t> run(const std::string& target,
                          const std::string& kernel,
                          Dim3 grid,
                          const Arguments& arguments,
                          MemoryMap& memory,
                          std::vector<uint16_t>& pool) {
  const CodeObject code = pool_kernels(target);
  add(&memory, pool, "pool");
  Machine machine(code, memory);
  const std::string name = symbol(code, kernel);
  machine.run({name, grid, {144}, 0, arguments.data(), arguments.size()}, kModes[0]);
  return pool;
}

// A pool of two requests, of three rows and one: fewer workgroups than rows, and more.
std::vector<uint16_t> filled_pool(const std::string& target, const std::string& kernel) {
  std::vector<uint16_t> pool(kPoolRows * kRow, kNan);
  std::vector<int32_t> indptr = {0, 3, 4}, last_page_len = {1, 1};
  std::vector<int32_t> indices(kRows.begin(), kRows.end());
  MemoryMap memory;
  add(&memory, indptr, "indptr", Permission::kReadOnly);
  add(&memory, indices, "indices", Permission::kReadOnly);
  add(&memory, last_page_len, "last_page_len", Permission::kReadOnly);
  DecodeParams p;
  p.batch = 2;
  p.kv_indptr = indptr.data();
  p.kv_indices = indices.data();
  p.last_page_len = last_page_len.data();
  return run(target, kernel, {2, 2}, Arguments(kSeed, p, pool.data()), memory, pool);
}

}  // namespace

// clang once fused the multiplication and the subtraction of two functions, and the last bit of
// some elements was not the host's.
BOOST_AUTO_TEST_CASE(a_pool_filled_by_the_device_has_the_bits_of_one_filled_by_the_host) {
  std::vector<uint16_t> expected(kPoolRows * kRow, kNan);
  for (const int64_t row : kRows) {
    fill_base_row(kSeed, row, expected.data() + static_cast<size_t>(row) * kRow);
  }
  for (const char* target : kTargets)
    BOOST_CHECK_MESSAGE(filled_pool(target, "fill_kernelIt") == expected, target);
}

BOOST_AUTO_TEST_CASE(
    a_pool_of_fp8_rows_filled_by_the_device_has_the_bits_of_one_filled_by_the_host) {
  std::vector<uint16_t> expected(kPoolRows * kRow, kNan);
  std::vector<uint16_t> values(kRow);
  for (const int64_t row : kRows) {
    fill_base_row(kSeed, row, values.data());
    auto* bytes = reinterpret_cast<uint8_t*>(expected.data());
    store_row(KvDtype::kFp8, values.data(), bytes + static_cast<size_t>(row) * kRow);
  }
  for (const char* target : kTargets)
    BOOST_CHECK_MESSAGE(filled_pool(target, "fill_kernelIh") == expected, target);
}

BOOST_AUTO_TEST_CASE(scattered_rows_arrive_where_they_belong_and_nowhere_else) {
  std::vector<uint16_t> values(kRows.size() * kRow);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
  std::vector<uint16_t> expected(kPoolRows * kRow, kNan);
  for (size_t i = 0; i < kRows.size(); ++i) {
    std::copy_n(values.data() + i * kRow, kRow, expected.data() + kRows[i] * kRow);
  }
  for (const char* target : kTargets) {
    constexpr int kRowWords = kRow * sizeof values[0] / 4;
    std::vector<uint16_t> pool(kPoolRows * kRow, kNan);
    std::vector<int64_t> rows = kRows;
    MemoryMap memory;
    add(&memory, rows, "rows", Permission::kReadOnly);
    add(&memory, values, "values", Permission::kReadOnly);
    const Arguments arguments(values.data(), rows.data(), kRowWords, pool.data());
    const auto count = static_cast<uint32_t>(rows.size());
    BOOST_CHECK_MESSAGE(run(target, "scatter_kernel", {count}, arguments, memory, pool) == expected,
                        target);
  }
}

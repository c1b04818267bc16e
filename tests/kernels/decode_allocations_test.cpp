// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE decode_allocations
#include <boost/test/unit_test.hpp>

#include "tests/kernels/decode_cases.h"
#include "tests/support/allocations.h"

using namespace mla;
using namespace mla::test;
using mla::testing::allocations;

BOOST_AUTO_TEST_CASE(a_launch_allocates_nothing_on_any_of_its_threads) {
  for (const KvDtype dtype : {KvDtype::kBf16, KvDtype::kFp8}) {
    Problem problem;
    problem.page_size = 16;
    problem.kv_dtype = dtype;
    const auto workload = make_workload(problem, {300, 0, 77});
    const OpenDecode decode;
    Tensors tensors(*workload);
    for (const char* text : {"splits=1", "splits=8 stage2_tiles=2"}) {
      const mla_plan plan = plan_of(parse_config(text, open_device("cpu")->space().neutral()));
      const uint64_t before = allocations;
      const mla_status status = mla_decode_launch(decode.get(), &tensors.abi, &plan, nullptr);
      const uint64_t after = allocations;
      BOOST_TEST(status == MLA_OK);
      BOOST_TEST(after == before, name(dtype) << " " << text);
    }
  }
}

// SPDX-License-Identifier: MIT
// The comparison on the device, by which the tuner judges all configurations but the first.
#include <cmath>
#include <limits>

#include "kernels/gpu/compare_kernels.cuh"
#include "kernels/hip/device_memory.cuh"
#include "tests/device/gpu.h"

using namespace mla;
using namespace mla::test;

namespace {

constexpr int kRows = 3;
constexpr uint16_t kOne = 0x3F80, kTwo = 0x4000, kNan = 0x7FC0;  // bf16

// Rows of ones; the last one is that of an empty request.
Output ones() {
  Output output{std::vector<uint16_t>(kRows * kValueDim, kOne), std::vector<float>(kRows, 1.5f)};
  std::fill(output.out.end() - kValueDim, output.out.end(), uint16_t{0});
  output.lse.back() = -std::numeric_limits<float>::infinity();
  return output;
}

std::vector<gpu::RowErrors> compared(const Output& output, const Output& kept) {
  hip::Stream stream;
  hip::DeviceMemory out, lse, kept_out, kept_lse, errors;
  out.upload(output.out, "out");
  lse.upload(output.lse, "lse");
  kept_out.upload(kept.out, "out");
  kept_lse.upload(kept.lse, "lse");
  errors.require(kRows * sizeof(gpu::RowErrors), "errors");
  const gpu::OutputPair pair = {out.as<const uint16_t>(),
                                lse.as<const float>(),
                                kept_out.as<const uint16_t>(),
                                kept_lse.as<const float>()};
  hip::check(gpu::compare_rows(pair, kRows, errors.as<gpu::RowErrors>(), stream.get()), "compare");
  stream.wait();
  std::vector<gpu::RowErrors> rows(kRows);
  hip::check(
      hipMemcpy(
          rows.data(), errors.as<void>(), kRows * sizeof(gpu::RowErrors), hipMemcpyDeviceToHost),
      "errors");
  return rows;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(comparison)

BOOST_AUTO_TEST_CASE(equal_outputs_have_no_error_and_an_empty_row_is_one_that_matches) {
  test_gpu();
  for (const gpu::RowErrors& row : compared(ones(), ones())) {
    BOOST_TEST(row.output == 0);
    BOOST_TEST(row.lse == 0);
  }
}

BOOST_AUTO_TEST_CASE(one_changed_element_is_found_in_its_row_wherever_it_is) {
  test_gpu();
  for (const int column : {0, 1, 127, 128, 511}) {
    Output output = ones();
    output.out[static_cast<size_t>(kValueDim + column)] = kTwo;
    const std::vector<gpu::RowErrors> rows = compared(output, ones());
    BOOST_TEST(rows[0].output == 0);
    BOOST_TEST(rows[1].output == std::sqrt(1.0f / kValueDim), boost::test_tools::tolerance(1e-6f));
    BOOST_TEST(rows[2].output == 0);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_an_infinite_error_in_output_and_lse) {
  test_gpu();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Output output = ones();
  output.out[7] = kNan;
  output.lse[1] = std::numeric_limits<float>::quiet_NaN();
  output.lse[2] = 0;  // the row is empty
  const std::vector<gpu::RowErrors> rows = compared(output, ones());
  BOOST_TEST(rows[0].output == kInfinity);
  BOOST_TEST(rows[0].lse == 0);
  BOOST_TEST(rows[1].output == 0);
  BOOST_TEST(rows[1].lse == kInfinity);
  BOOST_TEST(rows[2].lse == kInfinity);
}

BOOST_AUTO_TEST_CASE(what_an_empty_row_should_not_have_is_an_error) {
  test_gpu();
  Output output = ones();
  output.out.back() = kOne;
  BOOST_TEST(compared(output, ones())[2].output == 1);
}

BOOST_AUTO_TEST_CASE(other_splits_agree_with_the_kept_output_as_they_do_on_the_host) {
  Problem problem;
  problem.batch = 3;
  problem.seq_len = 5000;
  CheckedProblem checked(problem, {}, 8);
  BOOST_REQUIRE(checked.check(config_of(1, 16, 3, 8)).ok());
  const Output kept = read_output(checked.loaded());
  BOOST_REQUIRE(checked.loaded().keep_output());
  const OutputErrors same = checked.loaded().compare_output();
  BOOST_TEST(same.output.error == 0);
  BOOST_TEST(same.lse.error == 0);

  BOOST_REQUIRE(checked.loaded().run(config_of(7, 16, 3, 8)).ok());
  const Output other = read_output(checked.loaded());
  const OutputErrors errors = checked.loaded().compare_output();
  BOOST_TEST(other.out != kept.out);  // else there is nothing to see
  BOOST_TEST(errors.output.error > 0);
  const Tolerance allowed = between_outputs(tolerance(problem.kv_dtype));
  BOOST_TEST(judge(errors, allowed).ok());
  double worst = 0;
  for (size_t row = 0; row < kept.lse.size(); ++row) {
    worst = std::max(worst, std::fabs(double{other.lse[row]} - double{kept.lse[row]}));
  }
  BOOST_TEST(errors.lse.error == worst, boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: MIT
// Runs last: the linker keeps the order of the sources, Boost.Test that of the cases.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/amdgcn/covered.h"
#include "tests/amdgcn/op.h"

namespace {

using namespace mla::amdgcn;

BOOST_AUTO_TEST_CASE(every_instruction_that_the_emulator_knows_has_been_tested) {
  std::string missing;
  for (const auto& [mnemonic, info] : op_table()) {
    if (covered_mnemonics().count(mnemonic) == 0) missing += " " + mnemonic;
  }
  BOOST_TEST(missing.empty(), "untested:" << missing);
}

}  // namespace

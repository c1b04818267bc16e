// SPDX-License-Identifier: MIT
// The program of the tests of single instructions, and the check that they leave none out.
#define BOOST_TEST_MODULE amdgcn_instructions
#include <boost/test/unit_test.hpp>

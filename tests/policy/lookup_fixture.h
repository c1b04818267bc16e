// SPDX-License-Identifier: MIT
// What tests of lookups on an MI355X share.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "policy/lookup.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/temporary_directory.h"

namespace mla::testing {

struct LookupFixture {
  std::string path(const std::string& name = "tuning.db") const { return directory.file(name); }
  KernelConfig default_config(const Problem& problem) const {
    return policy::DefaultPolicy(space)(problem);
  }

  TemporaryDirectory directory;
  Space space = make_space(mi355x());
};

inline void check_is_default(const policy::Answer& answer,
                             const KernelConfig& config,
                             const std::string& reason) {
  BOOST_TEST(name(answer.source) == "default");
  BOOST_TEST(answer.reason == reason);
  BOOST_TEST(to_text(answer.config) == to_text(config));
  BOOST_TEST(answer.winner_id == 0);
  BOOST_TEST(answer.database == "");
}

}  // namespace mla::testing

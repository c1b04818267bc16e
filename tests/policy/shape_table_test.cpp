// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE shape_table
#include "policy/shape_table.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "kernels/known_devices.h"
#include "kernels/spaces.h"

using namespace mla;
using namespace mla::policy;

BOOST_AUTO_TEST_CASE(an_empty_table_has_no_key) {
  BOOST_TEST(ShapeTable({}).find(1) == nullptr);
}

BOOST_AUTO_TEST_CASE(every_key_is_found_and_no_other_at_any_size) {
  std::mt19937_64 random(3);
  for (const size_t count : {1, 2, 3, 17, 1000, 100'000}) {
    std::vector<ShapeEntry> entries(count);
    for (size_t i = 0; i < count; ++i) {
      entries[i].key = random() | 1;  // even keys stay absent
      entries[i].winner_id = i;
    }
    const ShapeTable table(entries);
    for (const ShapeEntry& entry : entries) {
      const ShapeEntry* const found = table.find(entry.key);
      BOOST_REQUIRE(found != nullptr && found->winner_id == entry.winner_id);
      BOOST_REQUIRE(table.find(entry.key & ~ShapeKey{1}) == nullptr);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_legal_value_of_every_space_survives_packing) {
  DeviceInfo mi355x, h200;
  known_device("MI355X", &mi355x);
  known_device("H200", &h200);
  DeviceInfo host;
  for (const Space& space : {make_space(mi355x), make_space(h200), make_space(host)}) {
    for (const KnobRange& range : space.ranges()) {
      for (const int32_t value : range.legal) {
        KernelConfig config = space.neutral();
        set(&config, range.knob, value);
        uint64_t packed = 0;
        BOOST_REQUIRE(pack_config(config, &packed));
        BOOST_REQUIRE(unpack_config(packed) == config);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_value_that_does_not_fit_is_refused) {
  uint64_t packed = 0;
  for (const Knob knob : kKnobs) {
    for (const int32_t value : {-1, 1 << 20}) {
      KernelConfig config;
      set(&config, knob, value);
      BOOST_TEST(!pack_config(config, &packed));
    }
  }
}

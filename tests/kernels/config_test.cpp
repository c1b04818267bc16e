// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE config
#include "kernels/config.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "kernels/error.h"

using namespace mla;

namespace {

KernelConfig random_config(std::mt19937_64& random) {
  KernelConfig c;
  c.splits = 1 + static_cast<int32_t>(random() % 1024);
  c.tile_n = 16 << (random() % 4);
  c.stages = 2 + static_cast<int32_t>(random() % 3);
  c.wait = static_cast<Wait>(random() % 2);
  c.order = static_cast<Order>(random() % 2);
  c.stage1_warps = static_cast<int32_t>(random() % 9);
  c.stage2_tiles = 1 << (random() % 4);
  c.stage2_warps = static_cast<int32_t>(random() % 9);
  c.schedule = static_cast<Schedule>(random() % 2);
  c.group_rows = 16 << (random() % 4);
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_text_has_every_knob_in_order) {
  KernelConfig c;
  c.splits = 32;
  c.wait = Wait::kPartial;
  c.stage1_warps = 4;
  c.stage2_warps = 8;
  BOOST_TEST(to_text(c) ==
             "splits=32 tile_n=64 stages=2 wait=partial order=batch_major stage1_warps=4 "
             "stage2_tiles=1 stage2_warps=8");
}

BOOST_AUTO_TEST_CASE(knobs_that_a_device_lacks_are_left_out) {
  BOOST_TEST(to_text(KernelConfig{}).find("warps") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_schedule_is_in_the_text_only_where_it_is_persistent) {
  KernelConfig c;
  BOOST_TEST(to_text(c).find("schedule") == std::string::npos);
  c.schedule = Schedule::kPersistent;
  const std::string text = to_text(c);
  BOOST_TEST(text.substr(text.rfind(' ') + 1) == "schedule=persistent");
  BOOST_TEST((parse_config("schedule=uniform") == KernelConfig{}));
}

BOOST_AUTO_TEST_CASE(group_rows_are_in_the_text_only_where_they_are_not_16) {
  KernelConfig c;
  BOOST_TEST(to_text(c).find("group_rows") == std::string::npos);
  c.group_rows = 64;
  const std::string text = to_text(c);
  BOOST_TEST(text.substr(text.rfind(' ') + 1) == "group_rows=64");
  BOOST_TEST((parse_config("group_rows=16", c) == KernelConfig{}));
}

BOOST_AUTO_TEST_CASE(parsing_inverts_printing_and_texts_are_distinct) {
  std::mt19937_64 random(11);
  std::set<std::string> texts;
  std::set<KernelConfig> configs;
  for (int i = 0; i < 2000; ++i) {
    const KernelConfig c = random_config(random);
    const KernelConfig again = parse_config(to_text(c));
    BOOST_TEST_REQUIRE((again == c), to_text(c));
    BOOST_TEST_REQUIRE(std::hash<KernelConfig>()(again) == std::hash<KernelConfig>()(c));
    texts.insert(to_text(c));
    configs.insert(c);
  }
  BOOST_TEST(texts.size() == configs.size());
}

BOOST_AUTO_TEST_CASE(a_text_changes_only_the_knobs_it_names) {
  KernelConfig base;
  base.splits = 7;
  base.tile_n = 32;
  const KernelConfig c = parse_config("order=split_major stages=4", base);
  BOOST_TEST(c.splits == 7);
  BOOST_TEST(c.tile_n == 32);
  BOOST_TEST(c.stages == 4);
  BOOST_TEST((c.order == Order::kSplitMajor));
}

BOOST_AUTO_TEST_CASE(a_bad_text_is_refused_by_the_name_of_the_knob) {
  for (const auto& [text, names] : std::initializer_list<std::pair<const char*, const char*>>{
           {"splits=0", "splits"},
           {"splits=-1", "splits"},
           {"splits=4294967297", "splits"},
           {"tile_n=64.0", "tile_n"},
           {"wait=maybe", "wait: 'maybe'"},
           {"order=", "order"},
           {"group_rows=0", "group_rows: '0' is not a whole number from 1"},
           {"schedule=0", "schedule: '0' is not uniform or persistent"},
           {"splits=1 splits=1", "splits is given twice"},
           {"warp=3", "unknown knob 'warp'"},
           {"splits", "'splits' is not knob=value"},
           {"stage1_warps=-1", "stage1_warps"}}) {
    BOOST_TEST_CONTEXT(text)
    BOOST_CHECK_EXCEPTION(parse_config(text), Error, [names = names](const Error& error) {
      return std::string(error.what()).find(names) != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(control_characters_of_a_bad_text_do_not_reach_the_message) {
  BOOST_CHECK_EXCEPTION(parse_config("a\x1b[31m\n=1"), Error, [](const Error& error) {
    return std::string(error.what()).find_first_of("\x1b\n") == std::string::npos;
  });
}

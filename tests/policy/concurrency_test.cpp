// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE policy_concurrency
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "policy/reader_slots.h"
#include "tests/policy/abi_support.h"
#include "tests/policy/tuned_database.h"
#include "tests/support/temporary_directory.h"

using namespace mla::testing;

BOOST_AUTO_TEST_CASE(plans_during_reloads_are_right_and_all_counted) {
  TemporaryDirectory directory;
  const std::string path = directory.file("tuning.db");
  {
    TunedDatabase database(path);
    for (int32_t batch = 1; batch <= 32; ++batch) {
      database.add_winner(shape(batch, 68000), "tile_n=32");
    }
  }
  const OpenPolicy policy({path});
  BOOST_TEST_REQUIRE(policy.warnings() == 0, policy.text());
  constexpr int kThreads = 4;
  constexpr uint64_t kPlans = 20'000;
  std::atomic<int> running{kThreads};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < kThreads; ++t) {
    readers.emplace_back([&, t] {
      for (uint64_t i = 0; i < kPlans; ++i) {
        const int32_t batch = 1 + static_cast<int32_t>((i + static_cast<uint64_t>(t)) % 32);
        const mla_plan plan = policy.plan(abi_shape(batch, 68000));
        if (plan.source != MLA_SOURCE_EXACT || plan.tile_n != 32) ++wrong;
      }
      --running;
    });
  }
  int reloads = 0;
  while (running > 0 || reloads == 0) {
    BOOST_TEST(mla_policy_reload(policy.get()) == MLA_OK);
    ++reloads;
  }
  for (std::thread& reader : readers) reader.join();
  BOOST_TEST(wrong == 0u);
  mla_counts counts{};
  counts.struct_size = sizeof counts;
  BOOST_TEST(mla_policy_counts(policy.get(), &counts) == MLA_OK);
  BOOST_TEST(counts.by_source[MLA_SOURCE_EXACT] == kThreads * kPlans);
}

BOOST_AUTO_TEST_CASE(plans_during_changes_of_mode_and_pin_are_one_of_the_answers) {
  TemporaryDirectory directory;
  const std::string path = directory.file("tuning.db");
  TunedDatabase(path).add_winner(shape(16, 68000), "tile_n=32");
  const OpenPolicy policy({path});
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const mla_plan plan = policy.plan(abi_shape(16, 68000));
        const bool tuned = plan.splits == 16 && plan.tile_n == 32;
        const bool off = plan.splits == 16 && plan.tile_n == 64;
        const bool deterministic = plan.splits == 32 && plan.tile_n == 64;
        const bool pinned = plan.splits == 7 && plan.tile_n == 64;
        if (!tuned && !off && !deterministic && !pinned) ++wrong;
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    mla_policy_set_mode(policy.get(), i % 3);
    mla_policy_pin(policy.get(), i % 4 == 0 ? "splits=7" : nullptr);
    if (i % 50 == 0) mla_policy_reload(policy.get());
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_CASE(an_object_is_never_freed_while_a_reader_holds_it) {
  struct Guarded {
    std::atomic<bool> alive{true};
  };
  using Slots = mla::policy::ReaderSlots<Guarded, 1>;
  Slots slots;
  constexpr int kObjects = 2000;
  std::vector<Guarded> objects(kObjects);  // marked dead, not freed, so that a late reader is seen
  std::atomic<const Guarded*> current{&objects[0]};
  std::atomic<bool> stop{false};
  std::atomic<int> dead_reads{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const Guarded* object = nullptr;
        Slots::Slot* const slot = slots.acquire(current, &object);
        if (!object->alive) ++dead_reads;
        Slots::release(slot);
      }
    });
  }
  for (int i = 1; i < kObjects; ++i) {
    current.store(&objects[static_cast<size_t>(i)]);
    slots.wait_until_unused(&objects[static_cast<size_t>(i - 1)]);
    objects[static_cast<size_t>(i - 1)].alive = false;
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  BOOST_TEST(dead_reads == 0);
}

BOOST_AUTO_TEST_CASE(a_reader_without_a_free_slot_is_told_so_and_does_not_wait) {
  using Slots = mla::policy::ReaderSlots<int, 1>;
  Slots slots;
  const int value = 1;
  const std::atomic<const int*> current{&value};
  std::vector<Slots::Slot*> held;
  const int* seen = nullptr;
  for (size_t i = 0; i < Slots::kSlots; ++i) {
    held.push_back(slots.acquire(current, &seen));
    BOOST_REQUIRE(held.back() != nullptr && seen == &value);
  }
  BOOST_TEST(slots.acquire(current, &seen) == nullptr);
  Slots::release(held.back());
  BOOST_TEST(slots.acquire(current, &seen) == held.back());
}

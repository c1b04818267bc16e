// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE host_device
#include <atomic>
#include <boost/test/unit_test.hpp>

#include "kernels/error.h"
#include "kernels/host/guarded_buffer.h"
#include "kernels/host/host_device.h"
#include "kernels/host/thread_pool.h"
#include "kernels/shape_key.h"
#include "tests/kernels/host_cases.h"

using namespace mla;
using namespace mla::test;

BOOST_AUTO_TEST_CASE(a_device_spec_sets_threads_and_instruction_set) {
  const host::HostOptions options = host::parse_host_spec("cpu:threads=3,isa=highway");
  BOOST_TEST(options.threads == 3);
  BOOST_TEST(options.isa == "highway");
  BOOST_TEST(host::parse_host_spec("cpu").threads == 0);
  BOOST_TEST(open_device("cpu:threads=3")->info().compute_units == 3);
}

BOOST_AUTO_TEST_CASE(a_spec_that_cannot_be_read_is_a_usage_error_that_names_it) {
  for (const std::string spec : {"cpu:",
                                 "cpu:threads=0",
                                 "cpu:threads=x",
                                 "cpu:threads=2,",
                                 "cpu:isa=sse",
                                 "cpux",
                                 "gpu",
                                 ""}) {
    BOOST_CHECK_EXCEPTION(open_device(spec), Error, [&](const Error& error) {
      return error.code() == ErrorCode::kUsage &&
             std::string(error.what()).find("'" + spec + "'") != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(the_listing_starts_with_a_device_that_opens) {
  const std::vector<DeviceListing> listing = list_devices();
  BOOST_REQUIRE(!listing.empty());
  BOOST_TEST(!listing.front().info.name.empty());
  const auto device = open_device(listing.front().spec);
  BOOST_TEST(device_key(device->info()) == device_key(listing.front().info));
}

BOOST_AUTO_TEST_CASE(an_illegal_configuration_is_an_outcome_with_the_reason) {
  const auto device = open_host("highway");
  const auto loaded = device->load(make_workload({}, {64}));
  KernelConfig config = device->space().neutral();
  config.tile_n = 48;
  BOOST_TEST((loaded->run(config).kind == OutcomeKind::kOverLimits));
  BOOST_TEST(loaded->run(config).text.find("tile_n") != std::string::npos);
  BOOST_TEST((loaded->time_cold(config).outcome.kind == OutcomeKind::kOverLimits));
}

BOOST_AUTO_TEST_CASE(more_splits_than_a_search_visits_still_run) {
  const auto device = open_host("highway");
  const auto workload = make_workload({}, {64});
  const auto loaded = device->load(workload);
  KernelConfig config = device->space().neutral();
  config.splits = device->space().range(Knob::kSplits).legal.back();
  BOOST_REQUIRE(loaded->run(config).ok());
  const Outcome checked =
      check(reference_sample(workload->params(), 4, 1), *workload, read(*loaded));
  BOOST_TEST(checked.ok(), checked.text);
}

BOOST_AUTO_TEST_CASE(a_cold_sample_takes_a_positive_time_and_leaves_a_complete_output) {
  const auto device = open_host("highway");
  const auto workload = make_workload({}, {500});
  const auto loaded = device->load(workload);
  const KernelConfig config = device->space().neutral();
  BOOST_REQUIRE(loaded->run(config).ok());
  const Output expected = read(*loaded);
  const TimedRun run = loaded->time_cold(config);
  BOOST_REQUIRE(run.outcome.ok());
  BOOST_TEST(run.time_us > 0);
  BOOST_TEST((read(*loaded) == expected));
}

BOOST_AUTO_TEST_CASE(a_write_behind_the_bytes_in_use_damages_the_canary) {
  for (const size_t bytes : {size_t{0}, size_t{100}}) {
    host::GuardedBuffer buffer;
    buffer.reserve(4096);
    buffer.poison(bytes);
    BOOST_TEST(buffer.intact());
    static_cast<uint8_t*>(buffer.data())[bytes] = 0;
    BOOST_TEST(!buffer.intact());
  }
}

BOOST_AUTO_TEST_CASE(the_pool_runs_every_item_once) {
  for (const int threads : {1, 2, 5}) {
    host::ThreadPool pool(threads);
    for (const int64_t items : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> runs(items);
      std::atomic<bool> known_thread{true};
      pool.run(items, [&](int64_t item, int thread) {
        ++runs[item];
        if (thread < 0 || thread >= threads) known_thread = false;
      });
      for (const auto& count : runs) BOOST_TEST(count == 1);
      BOOST_TEST(known_thread);
    }
  }
}

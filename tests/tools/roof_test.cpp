// SPDX-License-Identifier: MIT
// The roof bench on a device whose roofs are made up: floors, shapes, pairing and what is printed.
#define BOOST_TEST_MODULE tools_roof
#include "tools/roof.h"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "kernels/error.h"
#include "policy/default_policy.h"
#include "tests/support/fake_device.h"

namespace {

using namespace mla;
using namespace mla::tools;

const std::atomic<bool> kNeverStop{false};

// Copies in a quarter of the time of a decode; counts its samples.
class FakeRoofs : public RoofProbes {
 public:
  RoofRates rates() override { return {1.0, 0, 2.5}; }
  CopyOnly best_copy_only(LoadedProblem& problem, int) override {
    KernelConfig config;
    config.splits = 2;
    return {problem.time_cold(config).time_us / 4, config};
  }
  TimedRun time_copy_only(LoadedProblem& problem, const KernelConfig& config) override {
    ++samples;
    return {{}, problem.time_cold(config).time_us / 4};
  }

  int samples = 0;
};

class RoofedDevice : public test::FakeDevice {
 public:
  RoofProbes* roofs() override { return &fake_roofs; }

  FakeRoofs fake_roofs;
};

RoofShape small_shape(RoofBase base, double goal) {
  return {parse_problem("batch=2 nhead=2 seq_len=40"), base, goal};
}

RoofOptions options_for(const Device& device, int splits) {
  RoofOptions options;
  options.choose = [&device, splits](const Problem& problem) {
    KernelConfig config = policy::DefaultPolicy(device.space())(problem);
    config.splits = splits;
    return RoofConfig{config, "given"};
  };
  return options;
}

Problem shared(int batch) {
  return parse_problem("batch=" + std::to_string(batch) +
                       " nhead=12 seq_len=68000 shared_prefix=63240/8");
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_unshared_floor_is_every_row_once_at_the_read_ceiling) {
  const RoofFloor floor =
      roof_floor(parse_problem("batch=1 nhead=12 seq_len=68000"), {4450, 7000, 2.8});
  BOOST_TEST(floor.time_us == 17.6, boost::test_tools::tolerance(0.005));
  BOOST_TEST(floor.bound == "read");
}

BOOST_AUTO_TEST_CASE(a_shared_floor_is_the_logical_bytes_at_the_rate_of_the_cache) {
  const RoofFloor floor = roof_floor(shared(24), {4450, 7000, 2.8});
  BOOST_TEST(floor.time_us == 269.0, boost::test_tools::tolerance(0.005));
  BOOST_TEST(floor.bound == "l2");
  BOOST_TEST(roof_floor(shared(24), {4450, 0, 2.8}).bound == "read");  // no rate, no claim
}

// The copy engine of an H200 reached 4,560 GB/s where plain loads read 4,291.
BOOST_AUTO_TEST_CASE(a_gather_that_passes_the_read_probe_becomes_the_read_ceiling) {
  RoofBench bench;
  bench.rates = {4000, 8000, 2.8};
  for (const double copy_only_us : {0.9, 0.8, 1.2}) {  // of what the probe's rate allows
    RoofRow& row = bench.rows.emplace_back();
    row.shape.problem = parse_problem("batch=8 nhead=12 seq_len=68000");
    row.floor = roof_floor(row.shape.problem, bench.rates);
    row.copy_only_us = copy_only_us * row.floor.time_us;
    row.time_us = 1.5 * row.floor.time_us;
    row.x_floor = 1.5;
  }
  raise_read_ceiling(&bench);
  BOOST_TEST(bench.rates.read_gb_s == 5000, boost::test_tools::tolerance(1e-9));
  for (const RoofRow& row : bench.rows) {
    BOOST_TEST(row.x_floor == 1.5 / 0.8, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(row.floor.time_us == roof_floor(row.shape.problem, bench.rates).time_us);
  }
}

BOOST_AUTO_TEST_CASE(a_gather_slower_than_the_read_probe_changes_nothing) {
  RoofBench bench;
  bench.rates = {4000, 8000, 2.8};
  RoofRow& row = bench.rows.emplace_back();
  row.shape.problem = shared(24);
  row.floor = roof_floor(row.shape.problem, bench.rates);
  row.copy_only_us = 0.5 * row.floor.time_us;  // bound by the cache: says nothing of the memory
  row.time_us = row.floor.time_us;
  raise_read_ceiling(&bench);
  BOOST_TEST(bench.rates.read_gb_s == 4000);
  BOOST_TEST(row.x_floor == 1);
}

BOOST_AUTO_TEST_CASE(the_shapes_hold_every_stated_goal) {
  int copy_only = 0, shared_rows = 0, paged = 0, fp8 = 0, positions = 0;
  for (const RoofShape& shape : roof_shapes()) {
    validate(shape.problem);
    BOOST_TEST(shape.goal > 1.0);
    copy_only += shape.base == RoofBase::kCopyOnly;
    shared_rows += shape.problem.shared_prefix > 0;
    paged += shape.problem.page_size == 64;
    positions += shape.problem.q_len > 1 && shape.base == RoofBase::kFloor && shape.goal < 1.3;
    fp8 += shape.problem.kv_dtype == KvDtype::kFp8;
  }
  BOOST_TEST(copy_only == 7);
  BOOST_TEST(positions == 2);
  BOOST_TEST(shared_rows == 3);
  BOOST_TEST(paged == 25);
  BOOST_TEST(fp8 == 4);
}

BOOST_AUTO_TEST_CASE(decode_and_copy_alternate_and_their_ratio_is_formed_inside_a_round) {
  RoofedDevice device;
  RoofOptions options = options_for(device, 2);
  options.rounds = 6;
  const RoofBench bench =
      bench_roof(device, {small_shape(RoofBase::kCopyOnly, 4.5)}, options, kNeverStop);
  const RoofRow& row = bench.rows.at(0);
  BOOST_TEST(row.outcome.ok(), row.outcome.text);
  BOOST_TEST(row.rounds == 6);
  BOOST_TEST(device.fake_roofs.samples == 6);
  BOOST_TEST(row.x_copy_only.median == 4.0);
  BOOST_TEST(row.time_us == 520.0);
  BOOST_TEST(row.x_floor == 520.0 / row.floor.time_us);
  BOOST_TEST(row.met());
}

BOOST_AUTO_TEST_CASE(a_goal_is_met_by_the_measure_it_names) {
  RoofedDevice device;
  const RoofOptions options = options_for(device, 2);
  const double floor_us =
      roof_floor(small_shape(RoofBase::kFloor, 1).problem, device.fake_roofs.rates()).time_us;
  const RoofBench bench = bench_roof(device,
                                     {small_shape(RoofBase::kFloor, 521 / floor_us),
                                      small_shape(RoofBase::kFloor, 519 / floor_us),
                                      small_shape(RoofBase::kCopyOnly, 3.9)},
                                     options,
                                     kNeverStop);
  BOOST_TEST(bench.rows.at(0).met());
  BOOST_TEST(!bench.rows.at(1).met());
  BOOST_TEST(!bench.rows.at(2).met());
}

BOOST_AUTO_TEST_CASE(text_and_document_show_rates_ratio_goal_and_origin) {
  RoofedDevice device;
  const RoofBench bench = bench_roof(
      device, {small_shape(RoofBase::kCopyOnly, 4.5)}, options_for(device, 2), kNeverStop);
  const std::string text = roof_text(bench, Terminal{});
  for (const char* part :
       {"read 1 GB/s", "empty graph 2.50 us", "4.000", "4.50 x copy-only", "yes", "(given)"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);
  }
  const auto document = nlohmann::json::parse(roof_json(bench));
  BOOST_TEST(document["rows"][0]["x_copy_only"] == 4.0);
  BOOST_TEST(document["rows"][0]["goal_base"] == "copy_only");
  BOOST_TEST(document["rates"]["empty_graph_us"] == 2.5);
}

BOOST_AUTO_TEST_CASE(a_shape_that_does_not_fit_is_a_row_and_not_the_end) {
  RoofedDevice device;
  device.full = true;
  const RoofBench bench =
      bench_roof(device, {small_shape(RoofBase::kFloor, 2)}, options_for(device, 2), kNeverStop);
  BOOST_TEST((bench.rows.at(0).outcome.kind == OutcomeKind::kOutOfMemory));
  BOOST_TEST(!bench.rows.at(0).met());
  BOOST_TEST(roof_text(bench, Terminal{}).find("do not fit") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_bench_with_the_rows_so_far) {
  RoofedDevice device;
  const std::atomic<bool> stopped{true};
  const RoofBench bench =
      bench_roof(device, {small_shape(RoofBase::kFloor, 2)}, options_for(device, 2), stopped);
  BOOST_TEST(bench.rows.empty());
}

BOOST_AUTO_TEST_CASE(a_device_without_probes_is_a_usage_error_that_names_it) {
  test::FakeDevice device;
  BOOST_CHECK_EXCEPTION(bench_roof(device, roof_shapes(), options_for(device, 2), kNeverStop),
                        Error,
                        [](const Error& error) {
                          return error.code() == ErrorCode::kUsage &&
                                 std::string(error.what()).find("'fake'") != std::string::npos;
                        });
}

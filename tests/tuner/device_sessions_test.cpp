// SPDX-License-Identifier: MIT
// One run on several devices of a host, on devices that are formulas.
#define BOOST_TEST_MODULE device_sessions
#include "tuner/device_sessions.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/temporary_directory.h"
#include "tests/tuner/sessions.h"

using namespace mla;
using namespace mla::tuner;
using mla::testing::TemporaryDirectory;

namespace {

// A formula in a slot of its own, which is lost at its `lost_at`-th shape, counted from 1.
class SlottedDevice : public FaultySource {
 public:
  explicit SlottedDevice(const std::string& pci_id, int lost_at = 0, int32_t compute_units = 256)
      : FaultySource(formula_), formula_(options(compute_units)), lost_at_(lost_at) {
    DeviceInfo info = formula_.info();
    info.pci_id = pci_id;
    space_ = make_space(info);
  }

  const DeviceInfo& info() const override { return space_.device(); }
  Outcome select(const Problem& problem, uint64_t seed) override {
    if (++selected_ == lost_at_) throw Error(ErrorCode::kDevice, info().pci_id + ": is lost");
    return FaultySource::select(problem, seed);
  }

 private:
  static AnalyticOptions options(int32_t compute_units) {
    AnalyticOptions options;
    options.compute_units = compute_units;
    options.copies = 8;
    options.faster = 0.05;
    return options;
  }

  AnalyticSource formula_;
  Space space_;
  int lost_at_;
  int selected_ = 0;
};

using Sources = std::vector<std::unique_ptr<CandidateSource>>;

template <class... Devices>
Sources sources(Devices... devices) {
  Sources all;
  (all.push_back(std::move(devices)), ...);
  return all;
}

std::unique_ptr<CandidateSource> device(const std::string& slot, int lost_at = 0) {
  return std::make_unique<SlottedDevice>(slot, lost_at);
}

std::vector<Problem> grid() {
  std::vector<Problem> problems;
  for (const int batch : {8, 16, 24, 32, 48}) problems.push_back(seed_problem(batch));
  return problems;
}

struct Fixture {
  SessionResult run(const Sources& on, const SessionOptions& options = {}) {
    return run_device_sessions(on, path, {}, grid(), options, nullptr, kNeverStop);
  }

  // The slots that the rows of the shapes carry.
  std::map<int, std::string> slots() const {
    std::map<int, std::string> slots;
    for (const db::TuningSummary& row : db::Store::open(path, db::OpenMode::kReadOnly).summaries())
      BOOST_TEST(slots.emplace(row.winner.problem.batch, row.device.pci_id).second);
    return slots;
  }

  static int answered(const SessionResult& result) {
    int count = 0;
    for (const ShapeResult& shape : result.shapes) count += shape.answered();
    return count;
  }

  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
};

using Slots = std::map<int, std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(device_sessions, Fixture)

BOOST_AUTO_TEST_CASE(two_devices_share_the_shapes_and_each_row_carries_its_device) {
  const SessionResult result = run(sources(device("a"), device("b")));
  BOOST_TEST(answered(result) == 5);
  for (size_t i = 0; i < 5; ++i) BOOST_TEST((result.shapes[i].problem == grid()[i]));
  BOOST_TEST((slots() == Slots{{8, "a"}, {16, "b"}, {24, "a"}, {32, "b"}, {48, "a"}}));
}

BOOST_AUTO_TEST_CASE(the_winners_are_those_of_one_device_and_so_is_what_lies_between) {
  const SessionResult both = run(sources(device("a"), device("b")));
  TemporaryDirectory other;
  path = other.file("tuning.db");
  const SessionResult alone = run(sources(device("a")));
  for (size_t i = 0; i < 5; ++i)
    BOOST_TEST((both.shapes[i].winner.config == alone.shapes[i].winner.config));
  BOOST_TEST(both.crossing.planned > 0);
  BOOST_TEST(both.crossing.planned == alone.crossing.planned);
  BOOST_TEST(both.crossing.held + both.crossing.lost == both.crossing.planned);
}

BOOST_AUTO_TEST_CASE(a_shape_that_refinement_adds_ends_for_the_observer_behind_all_others) {
  auto a = std::make_unique<SlottedDevice>("a"), b = std::make_unique<SlottedDevice>("b");
  SessionOptions options;
  options.only = make_disagree(a.get());
  make_disagree(b.get());
  options.refine = true;
  std::map<size_t, int32_t> ended;
  const auto observe = [&](const ProgressEvent& event) {
    BOOST_TEST(event.shape < event.shapes);
    if (event.kind != ProgressEvent::Kind::kShapeEnd) return;
    BOOST_TEST(ended.emplace(event.shape, event.problem.batch).second);
  };
  const SessionResult result = run_device_sessions(sources(std::move(a), std::move(b)),
                                                   path,
                                                   {},
                                                   {seed_problem(8), seed_problem(32)},
                                                   options,
                                                   observe,
                                                   kNeverStop);
  BOOST_TEST(result.refine.tuned == 1);
  BOOST_TEST((ended == std::map<size_t, int32_t>{{0, 8}, {1, 32}, {2, 16}}));
  BOOST_REQUIRE(result.shapes.size() == 3u);
  BOOST_TEST(result.shapes[2].problem.batch == 16);
}

// Device a has three of the five shapes, then crosses.
BOOST_AUTO_TEST_CASE(what_lies_between_is_measured_by_the_next_where_a_device_is_lost_there) {
  const SessionResult both = run(sources(device("a"), device("b")));
  TemporaryDirectory other;
  path = other.file("tuning.db");
  const SessionResult lost = run(sources(device("a", 5), device("b")));
  BOOST_TEST(answered(lost) == 5);
  BOOST_TEST(lost.lost_device == "");
  BOOST_TEST(lost.crossing.planned == both.crossing.planned);
  BOOST_TEST(lost.crossing.held + lost.crossing.lost == lost.crossing.planned);
}

BOOST_AUTO_TEST_CASE(where_every_device_is_lost_between_the_shapes_their_answers_are_kept) {
  const SessionResult result = run(sources(device("a", 5), device("b", 4)));
  BOOST_TEST(answered(result) == 5);
  BOOST_TEST(result.lost_device.find("is lost") != std::string::npos);
  BOOST_TEST(result.crossing.held + result.crossing.lost < result.crossing.planned);
}

BOOST_AUTO_TEST_CASE(shapes_left_by_a_lost_device_are_tuned_by_the_other) {
  const SessionResult result = run(sources(device("a"), device("b", 2)));
  BOOST_TEST(answered(result) == 5);
  BOOST_TEST((slots() == Slots{{8, "a"}, {16, "b"}, {24, "a"}, {32, "a"}, {48, "a"}}));
}

BOOST_AUTO_TEST_CASE(when_every_device_is_lost_the_result_names_the_shapes_that_are_missing) {
  const SessionResult result = run(sources(device("a", 2), device("b", 1)));
  BOOST_TEST(answered(result) == 1);
  BOOST_TEST((result.shapes[0].status == ShapeStatus::kDone));
  for (size_t i = 1; i < 5; ++i) {
    BOOST_TEST((result.shapes[i].status == ShapeStatus::kFailed));
    BOOST_TEST(result.shapes[i].text.find("is lost") != std::string::npos);
  }
  BOOST_TEST((slots() == Slots{{8, "a"}}));
}

BOOST_AUTO_TEST_CASE(without_any_shape_done_a_loss_of_all_devices_is_an_error) {
  BOOST_CHECK_EXCEPTION(run(sources(device("a", 1), device("b", 1))),
                        Error,
                        [](const Error& error) { return error.code() == ErrorCode::kDevice; });
}

BOOST_AUTO_TEST_CASE(a_second_run_finds_every_shape_done_whichever_device_did_it) {
  run(sources(device("a"), device("b")));
  for (const Sources& again : {sources(device("b"), device("c")), sources(device("d"))}) {
    const SessionResult result = run(again);
    BOOST_TEST(result.samples_measured == 0);
    for (const ShapeResult& shape : result.shapes)
      BOOST_TEST((shape.status == ShapeStatus::kAlreadyDone));
  }
}

BOOST_AUTO_TEST_CASE(measuring_again_measures_again_on_all_devices) {
  run(sources(device("a"), device("b")));
  SessionOptions options;
  options.retune = true;
  db::RunInfo again;
  again.started_utc = "2026-01-01T00:00:00Z";
  const SessionResult result = run_device_sessions(
      sources(device("a"), device("b")), path, again, grid(), options, nullptr, kNeverStop);
  for (const ShapeResult& shape : result.shapes) BOOST_TEST((shape.status == ShapeStatus::kDone));
  BOOST_TEST(slots().size() == 5u);
}

BOOST_AUTO_TEST_CASE(events_name_each_shape_by_its_place_among_all) {
  std::map<size_t, Problem> ended;
  const auto observe = [&](const ProgressEvent& event) {
    BOOST_TEST(event.shapes == 5u);
    if (event.kind == ProgressEvent::Kind::kShapeEnd) ended[event.shape] = event.problem;
  };
  run_device_sessions(sources(device("a"), device("b")), path, {}, grid(), {}, observe, kNeverStop);
  BOOST_TEST(ended.size() == 5u);
  for (const auto& [place, problem] : ended) BOOST_TEST((problem == grid()[place]));
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_work_of_all_devices) {
  const std::atomic<bool> stopped{true};
  const SessionResult result = run_device_sessions(
      sources(device("a"), device("b")), path, {}, grid(), {}, nullptr, stopped);
  for (const ShapeResult& shape : result.shapes)
    BOOST_TEST(
        (shape.status == ShapeStatus::kStopped || shape.status == ShapeStatus::kOutOfBudget));
}

BOOST_AUTO_TEST_CASE(devices_that_differ_or_are_one_are_refused) {
  const auto refusal = [&](const Sources& on) -> std::string {
    try {
      run(on);
    } catch (const Error& error) {
      BOOST_TEST((error.code() == ErrorCode::kUsage));
      return error.what();
    }
    return "accepted";
  };
  Sources unlike = sources(device("a"));
  unlike.push_back(std::make_unique<SlottedDevice>("b", 0, 132));
  BOOST_TEST(refusal(unlike).find("are tuned apart") != std::string::npos);
  BOOST_TEST(refusal(sources(device("a"), device("a"))) == "--device: a is given twice");
}

BOOST_AUTO_TEST_SUITE_END()

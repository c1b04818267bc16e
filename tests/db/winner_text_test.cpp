// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE winner_text
#include "db/winner_text.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "db/fake_winners.h"
#include "kernels/error.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

struct Fixture {
  Fixture() {
    const KernelConfig base = make_space(sample_device()).neutral();
    Store store = Store::open(path, OpenMode::kReadWrite);
    RunInfo run = sample_run();
    run.command_line = "mla-tune run --db 'a \"b\"' \\\n\t\x01 \xC3\xA9 # = \xFF";
    const int64_t run_id = store.begin_run(run);
    for (const int32_t batch : {4, 8, 16}) {
      const int64_t id = store.open_tuning(run_id, sample_key(batch)).id;
      WinnerRecord winner = sample_winner(sample_problem(batch), base);
      winner.gain = 0.1 / batch;  // no short decimal
      if (batch == 16) winner.status = WinnerStatus::kDemoted;
      store.finish_tuning(id, winner);
      LossRecord loss;
      loss.config = base;
      loss.loss = -0.01 / batch;
      loss.rounds = 15;
      store.save_losses(id, {loss});
    }
  }

  static std::string exported(const std::string& path) {
    return export_winners(Store::open(path, OpenMode::kReadOnly));
  }

  std::string with(const std::string& from, const std::string& to) const {
    std::string text = exported(path);
    const size_t at = text.find(from);
    BOOST_TEST_REQUIRE(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
  }

  TemporaryDirectory directory;
  const std::string path = directory.file("tuning.db");
  const std::string fresh = directory.file("fresh.db");
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(text, Fixture)

BOOST_AUTO_TEST_CASE(what_is_imported_is_exported_as_the_same_text) {
  const std::string text = exported(path);
  const Imported imported = import_winners(text, "winners.txt", fresh);
  BOOST_TEST(imported.added == 3);
  BOOST_TEST(imported.unchanged == 0);
  BOOST_TEST(exported(fresh) == text);
  for (const Store::CheckRow& row : Store::open(fresh, OpenMode::kReadOnly).check()) {
    BOOST_TEST(row.ok, row.check << ": " << row.detail);
  }
}

BOOST_AUTO_TEST_CASE(many_generated_winners_round_trip) {
  const std::string many = directory.file("many.db");
  write_fake_winners(many, sample_device(), 500, 3);
  import_winners(exported(many), "winners.txt", fresh);
  BOOST_TEST(exported(fresh) == exported(many));
}

BOOST_AUTO_TEST_CASE(a_line_is_one_winner_with_its_evidence) {
  const std::string text = exported(path);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1 + 3 + 3 + 3);
  BOOST_TEST(text.rfind("# mla-tune winners 1\ndevice 1 name=\"Fictional 9\" arch=\"gfx999\"", 0) ==
             0u);
  BOOST_TEST(text.find("winner device=1 environment=1 run=1 protocol=\"rounds=60 margin=0.005\" "
                       "seed=7 problem=\"batch=8 nhead=12 seq_len=68000\" config=\"splits=2 ") !=
             std::string::npos);
  BOOST_TEST(text.find(" gain=0.0125 ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(importing_again_adds_nothing) {
  const std::string text = exported(path);
  const Imported again = import_winners(text, "winners.txt", path);
  BOOST_TEST(again.added == 0);
  BOOST_TEST(again.unchanged == 3);
  BOOST_TEST(exported(path) == text);
}

BOOST_AUTO_TEST_CASE(an_edited_winner_becomes_the_current_one) {
  import_winners(with("verdict=\"faster\"", "verdict=\"undecided\""), "winners.txt", path);
  const std::vector<TuningSummary> summaries = Store::open(path, OpenMode::kReadOnly).summaries();
  BOOST_TEST_REQUIRE(summaries.size() == 3u);
  BOOST_TEST((summaries[0].winner.verdict == Verdict::kUndecided));
  BOOST_TEST((summaries[1].winner.verdict == Verdict::kFaster));
}

BOOST_AUTO_TEST_CASE(an_earlier_text_that_is_imported_again_is_current_again) {
  const std::string text = exported(path);
  import_winners(with("verdict=\"faster\"", "verdict=\"undecided\""), "winners.txt", path);
  BOOST_TEST(exported(path) != text);
  import_winners(text, "winners.txt", path);
  BOOST_TEST(exported(path) == text);
}

BOOST_AUTO_TEST_CASE(a_line_that_cannot_be_believed_is_named_and_nothing_is_added) {
  struct Case {
    const char *from, *to, *reason;
  };
  const Case cases[] = {
      {"# mla-tune winners 1", "# winners", "t:1: is not '# mla-tune winners 1'"},
      {"device 1 ", "gadget 1 ", "t:2: begins with none of"},
      {"compute_units=64", "compute_units=65", "t:2: column 'hard_key' does not fit"},
      {"compute_units=64", "compute_units=x", "t:2: compute_units: 'x' is not an integer"},
      {"xcds=2", "xcds=2 xcds=2", "t:2: 'xcds' is given twice"},
      {"xcds=2", "xcds=2 colour=3", "t:2: 'colour' is not known"},
      {"xcds=2 ", "", "t:2: xcds is missing"},
      {"name=\"Fictional 9\"", "name=Fictional", "t:2: name: a text has to be in quotes"},
      {"name=\"Fictional 9\"", "name=\"Fictional 9", "t:2: "},
      {"winner device=1", "winner device=2", "t:5: device: no line above defines it"},
      {"splits=2 ", "splits=2000 ", "t:5: config: splits=2000 is not legal here"},
      {"batch=4 ", "batch=0 ", "t:5: batch: 0 is not in"},
      {"seq_len=68000", "seq_len=99999999", "t:5: seq_len: 99999999 is not in"},
      {"verdict=\"faster\"", "verdict=\"best\"", "t:5: CHECK constraint failed"},
      {" gain=0.025", " gain=nan", "t:5: gain: 'nan' is not a number"},
      {"p_value=5e-04", "p_value=2", "t:5: CHECK constraint failed"},
      {"loss config=", "loss loss=", "t:6: "}};
  const std::string before = exported(path);
  for (const Case& wrong : cases) {
    BOOST_CHECK_EXCEPTION(
        import_winners(with(wrong.from, wrong.to), "t", path), Error, [&](const Error& error) {
          BOOST_TEST(std::string(error.what()).find(wrong.reason) != std::string::npos,
                     error.what() << " has " << wrong.reason);
          return error.code() == ErrorCode::kUsage;
        });
    BOOST_TEST(exported(path) == before);
  }
  BOOST_CHECK_THROW(import_winners("", "t", path), Error);
}

BOOST_AUTO_TEST_SUITE_END()

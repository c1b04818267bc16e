// SPDX-License-Identifier: MIT
// The tuned rows of the repository: the texts and the database that is built of them agree, and
// every row carries its evidence and can be used on its device.
#define BOOST_TEST_MODULE tuned
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "db/snapshot.h"
#include "db/store.h"
#include "db/winner_text.h"
#include "kernels/spaces.h"
#include "policy/selection.h"
#include "tests/support/temporary_directory.h"

namespace mla::db {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> read_texts() {
  std::map<std::string, std::string> result;
  for (const fs::directory_entry& entry : fs::directory_iterator(MLA_TUNED_FOLDER)) {
    std::ifstream file(entry.path(), std::ios::binary);
    result[entry.path().filename()] = {std::istreambuf_iterator<char>(file),
                                       std::istreambuf_iterator<char>()};
  }
  return result;
}

const std::map<std::string, std::string>& texts() {
  static const std::map<std::string, std::string> kTexts = read_texts();
  return kTexts;
}

const std::vector<TuningSummary>& rows() {
  static const std::vector<TuningSummary> kRows =
      Store::open(MLA_TUNED_DB, OpenMode::kReadOnly).summaries();
  return kRows;
}

BOOST_AUTO_TEST_CASE(every_text_is_what_the_export_of_its_import_says) {
  const testing::TemporaryDirectory directory;
  BOOST_TEST(!texts().empty());
  for (const auto& [name, text] : texts()) {
    const std::string path = directory.file(name + ".db");
    import_winners(text, name, path);
    BOOST_TEST(export_winners(Store::open(path, OpenMode::kReadOnly)) == text, name);
  }
}

BOOST_AUTO_TEST_CASE(the_built_database_holds_every_row_of_the_texts_and_no_other) {
  std::multiset<std::string> lines;  // what a winner's says from its problem to its configuration
  for (const auto& [name, text] : texts()) {
    for (size_t at = text.find("\nwinner "); at != std::string::npos;
         at = text.find("\nwinner ", at + 1)) {
      const size_t first = text.find("problem=\"", at);
      const std::string config = " config=\"";
      const size_t last = text.find('"', text.find(config, first) + config.size());
      lines.insert(text.substr(first, last + 1 - first));
    }
  }
  BOOST_TEST(rows().size() == lines.size());
  for (const TuningSummary& row : rows()) {
    const std::string line = "problem=\"" + to_text(row.winner.problem) + "\" config=\"" +
                             to_text(row.winner.config) + "\"";
    BOOST_TEST(lines.count(line) == 1u, line);
  }
}

BOOST_AUTO_TEST_CASE(every_row_names_its_device_environment_and_evidence) {
  for (const TuningSummary& row : rows()) {
    const WinnerRecord& winner = row.winner;
    const std::string what = to_text(winner.problem);
    BOOST_TEST(!row.device.arch.empty(), what);
    BOOST_TEST(!row.environment.code_hash.empty(), what);
    BOOST_TEST(row.run.host.empty(), what);
    BOOST_TEST(row.run.command_line.find('/') == std::string::npos, what);
    if (winner.problem.seq_len == 0)
      continue;  // a plan for unknown length: its evidence is its lengths'
    BOOST_TEST(winner.rounds >= 15, what);
    BOOST_TEST(winner.default_us > 0, what);
    if (winner.verdict != Verdict::kFaster) continue;
    BOOST_TEST(winner.wins >= 13, what);
    if (winner.status == WinnerStatus::kActive)
      BOOST_TEST(policy::median_error(winner.placebo_noise, winner.rounds) < winner.gain, what);
  }
}

BOOST_AUTO_TEST_CASE(every_row_can_be_looked_up_on_the_device_that_it_names) {
  std::map<std::string, DeviceInfo> devices;
  for (const TuningSummary& row : rows()) devices[device_key(row.device)] = row.device;
  size_t loaded = 0;
  for (const auto& [key, device] : devices) {
    const SnapshotLoad load =
        load_snapshot(MLA_TUNED_DB,
                      make_space(device),
                      {[&](const SnapshotRow&) { ++loaded; }, [](const SnapshotLoss&) {}});
    for (const std::string& reason : load.reasons) BOOST_TEST_MESSAGE(key << ": " << reason);
  }
  BOOST_TEST(loaded == rows().size());
}

}  // namespace
}  // namespace mla::db

// SPDX-License-Identifier: MIT
// Real mounts, in a namespace of the test's own: a disk that is full, one that nobody can write, no
// place for temporary files. Skipped where this user may not mount.
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include <sched.h>
#include <sys/mount.h>

#include <boost/test/included/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tests/support/temporary_directory.h"
#include "tests/tools/program.h"

using namespace mla::testing;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

Words of_shape(Words verb, const std::string& database, const std::string& batch) {
  verb.insert(
      verb.end(),
      {"--device", "analytic:copies=2", "--batch", batch, "--seq-len", "1024", "--db", database});
  return verb;
}

Words run_words(const std::string& database, const std::string& batch) {
  return of_shape({"run", "-q"}, database, batch);
}

bool answers(const std::string& database, const std::string& batch) {
  return run(of_shape({"lookup", "--strict"}, database, batch)).status == 0;
}

class Mounted {
 public:
  Mounted(std::string path, const std::string& options, unsigned long flags = 0)
      : path_(std::move(path)) {
    BOOST_TEST_REQUIRE(mount("none", path_.c_str(), "tmpfs", flags, options.c_str()) == 0);
  }
  ~Mounted() { umount2(path_.c_str(), MNT_DETACH); }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

 private:
  std::string path_;
};

// The program itself must not vanish under a mount.
boost::test_tools::assertion_result program_is_elsewhere(boost::unit_test::test_unit_id) {
  const std::string_view program = MLA_TUNE_PROGRAM;
  return !program.starts_with("/tmp/") && !program.starts_with("/mnt/") &&
         !program.starts_with("/var/tmp/");
}
const boost::unit_test::precondition kProgramIsElsewhere(program_is_elsewhere);

}  // namespace

BOOST_AUTO_TEST_CASE(a_full_disk_is_named_and_what_was_stored_is_there_when_there_is_room_again) {
  TemporaryDirectory directory;
  const Mounted disk(directory.path().string(), "size=1m");
  const std::string database = directory.file("tuning.db"), filler = directory.file("filler");
  BOOST_TEST_REQUIRE(run(run_words(database, "1")).status == 0);
  constexpr size_t kRoomBytes = 100'000;
  const size_t fill_bytes = fs::space(directory.path()).available - kRoomBytes;
  std::ofstream(filler) << std::string(fill_bytes, 'x');
  const ProgramResult full = run(run_words(database, "1..64"));
  BOOST_TEST(full.status == 4, full.err);
  BOOST_TEST(full.err.find(database) != std::string::npos, full.err);
  BOOST_TEST(full.err.find("disk is full") != std::string::npos, full.err);
  fs::remove(filler);
  BOOST_TEST(run({"db", "check", "--db", database}).status == 0);
  BOOST_TEST(answers(database, "1"));
}

BOOST_AUTO_TEST_CASE(a_shipped_file_on_a_full_disk_is_not_left_half_written) {
  TemporaryDirectory directory, small;
  const std::string database = directory.file("tuning.db");
  BOOST_TEST_REQUIRE(run(run_words(database, "1..8")).status == 0);
  const Mounted disk(small.path().string(), "size=40k");
  BOOST_TEST(run({"db", "ship", "--db", database, "-o", small.file("shipped.db")}).status == 4);
  BOOST_TEST(fs::is_empty(small.path()));
}

BOOST_AUTO_TEST_CASE(nothing_needs_a_place_for_temporary_files_or_a_home, *kProgramIsElsewhere) {
  const std::string work = "/mnt";  // of any Linux, and of this process while the test runs
  const Mounted own(work, "size=16m");
  const Mounted var_tmp("/var/tmp", "size=4k", MS_RDONLY);
  const Mounted tmp("/tmp", "size=4k", MS_RDONLY);
  const ProgramOptions nowhere = {.environment = {{"TMPDIR", "/nonexistent"}}};
  const std::string database = work + "/tuning.db";
  const Words verbs[] = {run_words(database, "1,2"),
                         {"report", "--db", database},
                         {"db", "check", "--db", database},
                         {"db", "prune", "--db", database},
                         {"db", "export", "--db", database, "-o", work + "/winners.txt"},
                         {"db", "ship", "--db", database, "-o", work + "/shipped.db"},
                         {"db", "merge", "--from", database, "--db", work + "/all.db"}};
  for (const Words& verb : verbs) {
    const ProgramResult result = run(verb, nowhere);
    BOOST_TEST(result.status == 0, verb[0] << " " << verb[1] << ": " << result.err);
  }
  BOOST_TEST(answers(work + "/shipped.db", "2"));
}

BOOST_AUTO_TEST_CASE(a_shipped_file_is_read_on_a_mount_that_nobody_can_write) {
  TemporaryDirectory directory;
  const std::string folder = directory.file("image");
  fs::create_directory(folder);
  const std::string shipped = folder + "/shipped.db";
  const std::string database = directory.file("tuning.db");
  BOOST_TEST_REQUIRE(run(run_words(database, "1")).status == 0);
  const Mounted disk(folder, "size=4m");
  BOOST_TEST_REQUIRE(run({"db", "ship", "--db", database, "-o", shipped}).status == 0);
  BOOST_TEST_REQUIRE(mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  BOOST_TEST(answers(shipped, "1"));
  BOOST_TEST(run(run_words(shipped, "2")).status == 4);
}

// Mounts of this process stay its own.
int main(int argc, char** argv) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    std::puts("Skipped: this user may not mount");
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}

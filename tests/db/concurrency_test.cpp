// SPDX-License-Identifier: MIT
// Several processes on one file, and processes that die in the middle of a commit. The suite `full`
// holds the full count of rows and is run under its own label.
#define BOOST_TEST_MODULE concurrency
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <random>

#include "db/store.h"
#include "kernels/spaces.h"
#include "tests/support/sample_records.h"
#include "tests/support/temporary_directory.h"

using namespace mla;
using namespace mla::db;
using namespace mla::testing;

namespace {

// Starts a child that exits 0 where `body` returns and 1 where it throws.
pid_t start(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 0;
  try {
    body();
  } catch (const std::exception& e) {
    ::write(2, e.what(), std::string_view(e.what()).size());
    status = 1;
  }
  ::_exit(status);
}

bool ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void check_sound(const Store& store) {
  for (const Store::CheckRow& row : store.check()) {
    BOOST_TEST(row.ok, row.check << ": " << row.detail);
  }
}

struct Fixture {
  // Each process tunes a shape of its own in `rounds` rounds, a transaction each.
  void write_at_once(int processes, int rounds) const {
    std::vector<pid_t> children;
    for (int process = 0; process < processes; ++process) {
      children.push_back(start([&, process] {
        Store store = Store::open(path, OpenMode::kReadWrite);
        const int64_t run = store.begin_run(sample_run());
        const int64_t id = store.open_tuning(run, sample_key(1 + process)).id;
        for (int round = 0; round < rounds; ++round)
          store.save_round(id, sample_round(round, 4, base));
        store.finish_tuning(id, sample_winner(sample_problem(1 + process), base));
      }));
    }
    for (const pid_t child : children) BOOST_TEST(ended_well(child));
    const Store store = Store::open(path, OpenMode::kReadOnly);
    const DatabaseInfo info = store.info();
    BOOST_TEST(info.rounds == processes * rounds);
    BOOST_TEST(info.samples == processes * rounds * 4);
    BOOST_TEST(info.winners == processes);
    BOOST_TEST(info.devices == 1);
    check_sound(store);
  }

  TemporaryDirectory directory;
  std::string path = directory.file("tuning.db");
  KernelConfig base = make_space(sample_device()).neutral();
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(sixteen_processes_create_and_write_one_file_and_lose_no_row, Fixture) {
  write_at_once(16, 40);
}

BOOST_FIXTURE_TEST_CASE(a_reader_sees_whole_rounds_while_another_process_writes, Fixture) {
  Store store = Store::open(path, OpenMode::kReadWrite);
  const int64_t id = store.open_tuning(store.begin_run(sample_run()), sample_key()).id;
  const pid_t writer = start([&] {
    Store own = Store::open(path, OpenMode::kReadWrite);
    for (int round = 0; round < 300; ++round) own.save_round(id, sample_round(round, 8, base));
  });
  const Store reader = Store::open(path, OpenMode::kReadOnly);
  size_t last = 0;
  int status = 0;
  do {
    const std::vector<RoundRecord> rounds = reader.load_rounds(id);
    BOOST_TEST(rounds.size() >= last);
    for (const RoundRecord& round : rounds) BOOST_TEST_REQUIRE(round.samples.size() == 8u);
    last = rounds.size();
  } while (::waitpid(writer, &status, WNOHANG) == 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  BOOST_TEST(reader.load_rounds(id).size() == 300u);
}

// The child reports each committed round through a pipe; the parent kills it after a seeded number
// of reports, so that the kill falls into the commits that follow.
BOOST_FIXTURE_TEST_CASE(a_writer_killed_at_any_moment_loses_no_committed_round, Fixture) {
  std::mt19937_64 random(7);
  int64_t committed = 0;
  for (int attempt = 0; attempt < 25; ++attempt) {
    int pipe[2];
    BOOST_TEST_REQUIRE(::pipe(pipe) == 0);
    const pid_t writer = start([&] {
      ::close(pipe[0]);
      Store store = Store::open(path, OpenMode::kReadWrite);
      const int64_t run = store.begin_run(sample_run());
      const int64_t id = store.open_tuning(run, sample_key(1 + attempt)).id;
      for (int round = 0;; ++round) {
        store.save_round(id, sample_round(round, 16, base));
        if (::write(pipe[1], "r", 1) != 1) break;
      }
    });
    ::close(pipe[1]);
    char byte = 0;
    int64_t reported = 0;
    for (uint64_t reports = random() % 20; reports > 0; --reports)
      reported += ::read(pipe[0], &byte, 1);
    for (uint64_t spin = random() % 200'000; spin > 0; --spin)
      byte = static_cast<char>(byte + spin);
    ::kill(writer, SIGKILL);
    while (::read(pipe[0], &byte, 1) == 1) ++reported;
    ::close(pipe[0]);
    int status = 0;
    BOOST_TEST_REQUIRE(::waitpid(writer, &status, 0) == writer);
    BOOST_TEST_REQUIRE(WIFSIGNALED(status));
    committed += reported;

    const Store store = Store::open(path, OpenMode::kReadWrite);
    BOOST_TEST(store.info().rounds >= committed);
    BOOST_TEST(store.info().samples == 16 * store.info().rounds);
    committed = store.info().rounds;
    check_sound(store);
  }
  BOOST_TEST(committed > 0);
}

BOOST_AUTO_TEST_SUITE(full, *boost::unit_test::disabled())

BOOST_FIXTURE_TEST_CASE(sixteen_writers_of_1000_rows_lose_none, Fixture) {
  write_at_once(16, 1000);
}

BOOST_AUTO_TEST_SUITE_END()

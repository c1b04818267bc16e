// SPDX-License-Identifier: MIT
// Isolation: what a candidate does to its process becomes an outcome, and measuring goes on.
#define BOOST_TEST_MODULE worker_source
#include "tuner/worker_source.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/error.h"
#include "tests/support/fake_device.h"
#include "tuner/live_source.h"
#include "tuner/worker_process.h"
#include "tuner/worker_server.h"

namespace mla::tuner {
namespace {

const Problem kProblem = parse_problem("batch=11 nhead=6 seq_len=20");
const KernelConfig kDefault = parse_config("splits=4");
const KernelConfig kOther = parse_config("splits=2");

// Generous for a busy machine, short where a hang is waited for.
constexpr WorkerLimits kShortLimits{60, 8, 1e9, 5, 50};

// A source on the test's worker program whose default is admitted already.
struct Ready {
  explicit Ready(const std::string& device, const WorkerLimits& limits = {})
      : source(MLA_TEST_WORKER, device, limits) {
    BOOST_REQUIRE(source.select(kProblem, 1).ok());
    BOOST_REQUIRE(source.admit(kDefault, true).ok());
  }
  double default_us() { return source.sample(kDefault, SampleId{}).time_us; }

  WorkerSource source;
};

std::ptrdiff_t open_fds() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

// Of the only worker of this process.
int64_t output_file_bytes() {
  namespace fs = std::filesystem;
  for (const auto& fd : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the iterator's own descriptor
    if (fs::read_symlink(fd, gone).string().find("worker-output") != std::string::npos) {
      return static_cast<int64_t>(fs::file_size(fd));
    }
  }
  return -1;
}

bool has_children() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// A hang of the faulty device is pause(): before it is entered, the worker would end by the closed
// socket instead.
void wait_until_paused(pid_t worker) {
  for (;;) {
    std::ifstream file("/proc/" + std::to_string(worker) + "/syscall");
    std::string number;
    if (!(file >> number) || number == std::to_string(SYS_pause)) return;
    sched_yield();
  }
}

BOOST_AUTO_TEST_CASE(the_worker_answers_as_the_device_in_this_process_would) {
  Ready ready("fake");
  BOOST_TEST(ready.source.info().name == "fake");
  BOOST_TEST(device_key(ready.source.space().device()) == "x86-64/4cu/1xcd");
  BOOST_TEST(ready.source.environment().code_hash == local_environment().code_hash);
  BOOST_TEST(ready.source.admit(kOther, false).ok());
  BOOST_TEST(ready.source.sample(kOther, SampleId{}).time_us == 520.0);
}

BOOST_AUTO_TEST_CASE(a_crash_in_admission_is_a_fault_that_names_the_signal_and_the_run_goes_on) {
  Ready ready("faulty:crash.run@splits=2:fake");
  const Outcome outcome = ready.source.admit(kOther, false);
  BOOST_TEST((outcome.kind == OutcomeKind::kFault));
  BOOST_TEST(contains(outcome.text, "SIGSEGV"), outcome.text);
  // Needs the default's output again, so the new worker has admitted it.
  BOOST_TEST(ready.source.admit(parse_config("splits=3"), false).ok());
  BOOST_TEST(ready.default_us() == 290.0);
}

BOOST_AUTO_TEST_CASE(a_crash_in_a_sample_is_a_fault_and_the_run_goes_on) {
  Ready ready("faulty:crash.time@splits=2:fake");
  BOOST_REQUIRE(ready.source.admit(kOther, false).ok());
  BOOST_TEST((ready.source.sample(kOther, SampleId{}).outcome.kind == OutcomeKind::kFault));
  BOOST_TEST(ready.default_us() == 290.0);
}

BOOST_AUTO_TEST_CASE(a_crash_of_the_default_leaves_the_problem_selected) {
  WorkerSource source(MLA_TEST_WORKER, "faulty:crash.run@splits=4:fake");
  BOOST_REQUIRE(source.select(kProblem, 1).ok());
  BOOST_TEST((source.admit(kDefault, true).kind == OutcomeKind::kFault));
  BOOST_TEST(source.admit(kOther, true).ok());
  BOOST_TEST(source.sample(kOther, SampleId{}).outcome.ok());
}

BOOST_AUTO_TEST_CASE(a_hang_is_ended_with_its_process_and_the_run_goes_on) {
  Ready ready("faulty:hang@splits=2:fake", kShortLimits);
  const pid_t worker = ready.source.worker_pid();
  BOOST_TEST((ready.source.admit(kOther, false).kind == OutcomeKind::kHang));
  BOOST_TEST(kill(worker, 0) == -1);
  BOOST_TEST(ready.default_us() == 290.0);
  BOOST_TEST((ready.source.sample(kOther, SampleId{}).outcome.kind == OutcomeKind::kHang));
  BOOST_TEST(ready.default_us() == 290.0);
}

BOOST_AUTO_TEST_CASE(a_wrong_answer_and_a_nan_are_outcomes_of_the_same_worker) {
  Ready ready("faulty:wrong@splits=2,nan@splits=3:fake");
  const pid_t worker = ready.source.worker_pid();
  BOOST_TEST((ready.source.admit(kOther, false).kind == OutcomeKind::kWrong));
  BOOST_TEST((ready.source.admit(parse_config("splits=3"), false).kind == OutcomeKind::kNonFinite));
  BOOST_TEST(ready.source.worker_pid() == worker);
}

BOOST_AUTO_TEST_CASE(a_worker_killed_from_outside_is_a_fault_and_nobody_waits_for_it) {
  Ready ready("fake");
  kill(ready.source.worker_pid(), SIGKILL);
  const TimedRun sample = ready.source.sample(kDefault, SampleId{});
  BOOST_TEST((sample.outcome.kind == OutcomeKind::kFault));
  BOOST_TEST(contains(sample.outcome.text, "SIGKILL"), sample.outcome.text);
  BOOST_TEST(ready.default_us() == 290.0);
}

BOOST_AUTO_TEST_CASE(another_problem_after_a_crash_is_selected_in_the_new_worker) {
  Ready ready("faulty:crash.run@splits=2:fake");
  BOOST_REQUIRE(!ready.source.admit(kOther, false).ok());
  BOOST_TEST(ready.source.select(parse_problem("batch=1 nhead=2 seq_len=5"), 3).ok());
  BOOST_TEST(ready.source.admit(kDefault, true).ok());
  BOOST_TEST(ready.default_us() == 290.0);
}

BOOST_AUTO_TEST_CASE(descriptors_and_processes_stay_flat_over_200_restarts) {
  {
    Ready ready("faulty:crash.time@splits=2:fake");
    const std::ptrdiff_t before = open_fds();
    for (int i = 0; i < 200; ++i) {
      BOOST_REQUIRE((ready.source.sample(kOther, SampleId{}).outcome.kind == OutcomeKind::kFault));
      BOOST_REQUIRE(ready.default_us() == 290.0);
    }
    BOOST_TEST(open_fds() == before);
  }
  BOOST_TEST(!has_children());
}

BOOST_AUTO_TEST_CASE(the_worker_of_a_killed_tuner_ends_too_even_inside_a_hang) {
  // Orphans of the killed tuner become children of this process, so their end can be waited for.
  BOOST_REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  int ready_pipe[2];
  BOOST_REQUIRE(pipe(ready_pipe) == 0);
  const pid_t tuner = fork();
  if (tuner == 0) {
    WorkerSource source(MLA_TEST_WORKER, "faulty:hang:fake");
    source.select(kProblem, 1);
    const pid_t worker = source.worker_pid();
    if (write(ready_pipe[1], &worker, sizeof worker) != sizeof worker) _exit(1);
    source.admit(kDefault, true);
    _exit(0);
  }
  pid_t worker = -1;
  BOOST_REQUIRE(read(ready_pipe[0], &worker, sizeof worker) == sizeof worker);
  wait_until_paused(worker);
  kill(tuner, SIGKILL);
  BOOST_TEST(waitpid(tuner, nullptr, 0) == tuner);
  int status = 0;
  BOOST_TEST(waitpid(worker, &status, 0) == worker);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  close(ready_pipe[0]);
  close(ready_pipe[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

BOOST_AUTO_TEST_CASE(the_server_returns_when_the_other_end_closes) {
  int ends[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::thread server([fd = ends[1]] {
    serve_worker(fd,
                 [] { return std::make_unique<LiveSource>(std::make_unique<test::FakeDevice>()); });
  });
  close(ends[0]);
  server.join();
}

BOOST_AUTO_TEST_CASE(nonsense_is_answered_by_an_error_line) {
  int ends[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  std::thread server([fd = ends[1]] {
    serve_worker(fd,
                 [] { return std::make_unique<LiveSource>(std::make_unique<test::FakeDevice>()); });
  });
  std::string line;
  {
    LineChannel channel(ends[0]);
    BOOST_TEST((channel.read(&line) == LineChannel::Read::kLine));
    BOOST_TEST(channel.write("launch everything"));
    BOOST_TEST((channel.read(&line) == LineChannel::Read::kLine));
  }
  server.join();
  BOOST_TEST(contains(line, "launch everything"), line);
}

BOOST_AUTO_TEST_CASE(an_error_while_the_device_opens_arrives_with_its_code) {
  BOOST_CHECK_EXCEPTION(WorkerSource(MLA_TEST_WORKER, "fax"), Error, [](const Error& error) {
    return error.code() == ErrorCode::kUsage && contains(error.what(), "fax");
  });
}

BOOST_AUTO_TEST_CASE(a_program_that_is_no_worker_is_a_device_error) {
  for (const char* program : {"/nonexistent/mla-tune", "/bin/true", "/bin/false"}) {
    BOOST_CHECK_EXCEPTION(WorkerSource(program, "fake"), Error, [](const Error& error) {
      return error.code() == ErrorCode::kDevice;
    });
  }
}

// Its output once grew as long as it printed.
BOOST_AUTO_TEST_CASE(a_worker_that_prints_without_end_fills_a_file_of_fixed_size) {
  WorkerProcess process(
      "/bin/sh", {"-c", "head -c 1000000 /dev/zero; echo ready >&0; read go; echo why; exit 3"});
  std::string line;
  BOOST_REQUIRE((process.channel().read(&line) == LineChannel::Read::kLine));
  BOOST_TEST(output_file_bytes() == 64 * 1024);
  process.forget_output();
  BOOST_REQUIRE(process.channel().write("go"));
  BOOST_TEST(process.how_it_ended().text == "the worker exited with status 3: why");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_worker_is_told_by_signal_status_and_last_line) {
  const int killed = SIGKILL;
  BOOST_TEST((outcome_of_end(killed, true, "").kind == OutcomeKind::kOutOfMemory));
  BOOST_TEST((outcome_of_end(killed, false, "").kind == OutcomeKind::kFault));
  // The memory killer took something else while this one crashed.
  BOOST_TEST((outcome_of_end(SIGSEGV, true, "").kind == OutcomeKind::kFault));
  BOOST_TEST(outcome_of_end(SIGABRT, false, "assertion failed").text ==
             "the worker was ended by SIGABRT: assertion failed");
  BOOST_TEST(outcome_of_end(SIGABRT, false, "\033[31mred").text ==
             "the worker was ended by SIGABRT:  [31mred");
  BOOST_TEST(outcome_of_end(3 << 8, false, "").text == "the worker exited with status 3");
}

}  // namespace
}  // namespace mla::tuner

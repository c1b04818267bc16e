// SPDX-License-Identifier: MIT
// Every message survives its line, and no other line is taken for one.
#define BOOST_TEST_MODULE worker_protocol
#include "tuner/worker_protocol.h"

#include <boost/test/unit_test.hpp>
#include <random>

namespace mla::tuner {
namespace {

const Problem kProblem = parse_problem("batch=8 nhead=12 seq_len=68000 shared_prefix=63240/8");
const KernelConfig kConfig =
    parse_config("splits=32 wait=partial order=split_major stage1_warps=4 stage2_warps=2");

Hello hello() {
  Hello result;
  result.device.name = "AMD EPYC\t9575F\n";
  result.device.arch = "gfx950";
  result.device.partition = "CPX";
  result.device.pci_id = "0000:43:00.0";
  result.device.compute_units = 256;
  result.device.xcds = 8;
  result.device.group_rows = 16;
  result.device.memory_bytes = int64_t{288} << 30;
  result.device.local_memory_bytes = 163840;
  result.device.last_level_cache_bytes = 256 << 20;
  result.environment = {"Linux 6.1", "glibc 2.36", "gcc 12.2.0", "0123456789abcdef", "0.1.0"};
  return result;
}

bool is_internal(const Error& error) {
  return error.code() == ErrorCode::kInternal;
}

BOOST_AUTO_TEST_CASE(a_hello_survives_its_line_without_its_control_characters) {
  const Hello read = parse_hello(to_line(hello()));
  BOOST_TEST(read.device.name == "AMD EPYC 9575F ");
  BOOST_TEST(device_key(read.device) == device_key(hello().device));
  BOOST_TEST(read.device.pci_id == "0000:43:00.0");
  BOOST_TEST(read.device.group_rows == 16);
  BOOST_TEST(read.device.memory_bytes == int64_t{288} << 30);
  BOOST_TEST(read.device.local_memory_bytes == 163840);
  BOOST_TEST(read.device.last_level_cache_bytes == 256 << 20);
  BOOST_TEST(read.environment.driver == "Linux 6.1");
  BOOST_TEST(read.environment.runtime == "glibc 2.36");
  BOOST_TEST(read.environment.compiler == "gcc 12.2.0");
  BOOST_TEST(read.environment.code_hash == "0123456789abcdef");
  BOOST_TEST(read.environment.tool_version == "0.1.0");
}

BOOST_AUTO_TEST_CASE(requests_survive_their_lines) {
  const auto select =
      std::get<SelectRequest>(parse_request(to_line(SelectRequest{kProblem, UINT64_MAX})));
  BOOST_TEST((select.problem == kProblem));
  BOOST_TEST(select.seed == UINT64_MAX);
  for (const bool first : {true, false}) {
    const auto admit = std::get<AdmitRequest>(parse_request(to_line(AdmitRequest{kConfig, first})));
    BOOST_TEST((admit.config == kConfig));
    BOOST_TEST(admit.first == first);
  }
  const auto sample = std::get<SampleRequest>(parse_request(to_line(SampleRequest{kConfig})));
  BOOST_TEST((sample.config == kConfig));
}

BOOST_AUTO_TEST_CASE(an_answer_keeps_every_bit_of_its_time) {
  const TimedRun read = parse_answer(to_line(TimedRun{{}, 1234.0 / 7}));
  BOOST_TEST(read.outcome.ok());
  BOOST_TEST(read.time_us == 1234.0 / 7);
}

BOOST_AUTO_TEST_CASE(an_outcome_crosses_with_its_text_on_one_line) {
  const TimedRun read =
      parse_answer(to_line(TimedRun{{OutcomeKind::kWrong, "token 3\nhead\t1"}, 0}));
  BOOST_TEST((read.outcome.kind == OutcomeKind::kWrong));
  BOOST_TEST(read.outcome.text == "token 3 head 1");
}

BOOST_AUTO_TEST_CASE(an_error_crosses_with_its_code) {
  const std::string line = to_line(Error(ErrorCode::kUsage, "cpu:threads=x"));
  const auto same = [](const Error& error) {
    return error.code() == ErrorCode::kUsage && std::string(error.what()) == "cpu:threads=x";
  };
  BOOST_CHECK_EXCEPTION(parse_hello(line), Error, same);
  BOOST_CHECK_EXCEPTION(parse_answer(line), Error, same);
}

BOOST_AUTO_TEST_CASE(another_version_of_the_protocol_is_refused_by_name) {
  std::string line = to_line(hello());
  line.replace(line.find("\t1\t"), 3, "\t9\t");
  BOOST_CHECK_EXCEPTION(parse_hello(line), Error, [](const Error& error) {
    return error.code() == ErrorCode::kUsage &&
           std::string(error.what()).find('9') != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(lines_of_another_form_are_refused) {
  for (const char* line : {"",
                           "select",
                           "select\t1",
                           "select\t-1\tbatch=1 nhead=12 seq_len=1",
                           "select\t1\tbatch=1 nhead=12",
                           "select\t1\tseq_len=1 nhead=12 batch=1",
                           "select\t1\tbatch=1 nhead=12 seq_len=1\t",
                           "admit\tsecond\tsplits=1",
                           "sample\tsplits=1",
                           "sample\tsplits=99999999999",
                           "launch\tsplits=1"}) {
    BOOST_TEST_CONTEXT(line) {
      BOOST_CHECK_EXCEPTION(parse_request(line), Error, is_internal);
    }
  }
  for (const char* line : {"",
                           "ok",
                           "ok\t1",
                           "ok\t-1\t",
                           "ok\tnan\t",
                           "ok\tinf\t",
                           "ok\t1 \t",
                           "fine\t1\t",
                           "ok\t1\t\t",
                           "error\t99\tx",
                           "error\t2"}) {
    BOOST_TEST_CONTEXT(line) {
      BOOST_CHECK_EXCEPTION(parse_answer(line), Error, is_internal);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_line_is_an_error_or_the_line_of_what_was_read) {
  std::mt19937 random(1);
  const std::string lines[] = {to_line(SelectRequest{kProblem, 7}),
                               to_line(AdmitRequest{kConfig, true})};
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line = lines[i % 2];
    line[random() % line.size()] = static_cast<char>(random());
    try {
      BOOST_TEST(to_line(parse_request(line)) == line);
    } catch (const Error& error) {
      BOOST_TEST(is_internal(error));
      ++refused;
    }
  }
  BOOST_TEST(refused > 10000);
}

}  // namespace
}  // namespace mla::tuner

// SPDX-License-Identifier: MIT
// What the tuner and its worker process say to each other: one line a message, fields separated by
// tabs, problems and configurations in their canonical texts. Parsing is strict on both sides; a
// line that does not follow the form is Error(kInternal).
//
//   worker  hello <version> <device fields> <environment fields>    once, when the device is open
//   tuner   select <seed> <problem>
//           admit first|other <config>
//           sample <config>
//   worker  <outcome kind> <time_us> <text>                         the answer to each request
//           error <code> <text>                                     instead of a hello or an answer
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "db/record.h"
#include "kernels/error.h"
#include "tuner/source.h"

namespace mla::tuner {

inline constexpr int kWorkerProtocol = 1;

struct Hello {
  DeviceInfo device;
  db::Environment environment;
};

struct SelectRequest {
  Problem problem;
  uint64_t seed = 0;
};
struct AdmitRequest {
  KernelConfig config;
  bool first = false;
};
struct SampleRequest {
  KernelConfig config;
};
using Request = std::variant<SelectRequest, AdmitRequest, SampleRequest>;

// Lines without the newline. Control characters inside of texts become spaces.
std::string to_line(const Hello& hello);
std::string to_line(const Request& request);
std::string to_line(const TimedRun& answer);  // time_us is 0 for select and admit
std::string to_line(const Error& error);

Request parse_request(std::string_view line);

// Both throw the Error that an `error` line carries, with its code.
Hello parse_hello(std::string_view line);
TimedRun parse_answer(std::string_view line);

}  // namespace mla::tuner

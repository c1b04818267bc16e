// SPDX-License-Identifier: MIT
#include "tuner/worker_protocol.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "kernels/text.h"

namespace mla::tuner {
namespace {

[[noreturn]] void malformed(std::string_view line) {
  throw Error(ErrorCode::kInternal, "worker protocol: cannot read " + in_quotes(line));
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t begin = 0;;) {
    const size_t tab = line.find('\t', begin);
    fields.push_back(line.substr(begin, tab - begin));
    if (tab == std::string_view::npos) return fields;
    begin = tab + 1;
  }
}

// Takes the fields of one line in turn; a missing, surplus or unreadable one throws.
class FieldReader {
 public:
  explicit FieldReader(std::string_view line) : line_(line), fields_(split_fields(line)) {}

  std::string_view text() {
    if (next_ == fields_.size()) malformed(line_);
    return fields_[next_++];
  }

  template <typename Number>
  Number number() {
    const std::string_view field = text();
    Number value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size()) malformed(line_);
    return value;
  }

  void finish() const {
    if (next_ != fields_.size()) malformed(line_);
  }

 private:
  std::string_view line_;
  std::vector<std::string_view> fields_;
  size_t next_ = 0;
};

[[noreturn]] void throw_transmitted(FieldReader& fields, std::string_view line) {
  const int code = fields.number<int>();
  const std::string text(fields.text());
  fields.finish();
  for (const ErrorCode known :
       {ErrorCode::kUsage, ErrorCode::kDevice, ErrorCode::kDatabase, ErrorCode::kInternal}) {
    if (static_cast<int>(known) == code) throw Error(known, text);
  }
  malformed(line);
}

// A problem or configuration in its canonical text. A mistake in one is the sender's and not the
// user's.
template <typename Value, typename Parse>
Value canonical(std::string_view text, std::string_view line, const Parse& parse) {
  try {
    Value value = parse(text);
    if (to_text(value) == text) return value;
  } catch (const Error&) {
    // Falls through to the error that names the line.
  }
  malformed(line);
}

KernelConfig config_field(std::string_view text, std::string_view line) {
  return canonical<KernelConfig>(text, line, [](std::string_view t) { return parse_config(t); });
}

}  // namespace

std::string to_line(const Hello& hello) {
  const DeviceInfo& d = hello.device;
  const db::Environment& e = hello.environment;
  return fmt::format("hello\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                     kWorkerProtocol,
                     one_line(d.name),
                     one_line(d.arch),
                     one_line(d.partition),
                     one_line(d.pci_id),
                     d.compute_units,
                     d.xcds,
                     d.group_rows,
                     d.memory_bytes,
                     d.local_memory_bytes,
                     d.last_level_cache_bytes,
                     one_line(e.driver),
                     one_line(e.runtime),
                     one_line(e.compiler),
                     one_line(e.code_hash),
                     one_line(e.tool_version));
}

std::string to_line(const Request& request) {
  struct {
    std::string operator()(const SelectRequest& r) const {
      return fmt::format("select\t{}\t{}", r.seed, to_text(r.problem));
    }
    std::string operator()(const AdmitRequest& r) const {
      return fmt::format("admit\t{}\t{}", r.first ? "first" : "other", to_text(r.config));
    }
    std::string operator()(const SampleRequest& r) const {
      return fmt::format("sample\t{}", to_text(r.config));
    }
  } writer;
  return std::visit(writer, request);
}

std::string to_line(const TimedRun& answer) {
  return fmt::format(
      "{}\t{}\t{}", name(answer.outcome.kind), answer.time_us, one_line(answer.outcome.text));
}

std::string to_line(const Error& error) {
  return fmt::format("error\t{}\t{}", static_cast<int>(error.code()), one_line(error.what()));
}

Request parse_request(std::string_view line) {
  FieldReader fields(line);
  const std::string_view verb = fields.text();
  Request request;
  if (verb == "select") {
    const auto seed = fields.number<uint64_t>();
    request = SelectRequest{canonical<Problem>(fields.text(), line, parse_problem), seed};
  } else if (verb == "admit") {
    const std::string_view which = fields.text();
    if (which != "first" && which != "other") malformed(line);
    request = AdmitRequest{config_field(fields.text(), line), which == "first"};
  } else if (verb == "sample") {
    request = SampleRequest{config_field(fields.text(), line)};
  } else {
    malformed(line);
  }
  fields.finish();
  return request;
}

Hello parse_hello(std::string_view line) {
  FieldReader fields(line);
  const std::string_view verb = fields.text();
  if (verb == "error") throw_transmitted(fields, line);
  if (verb != "hello") malformed(line);
  if (const int version = fields.number<int>(); version != kWorkerProtocol) {
    throw Error(ErrorCode::kUsage,
                fmt::format("the worker program speaks protocol {}, this program {}: they are of "
                            "different versions",
                            version,
                            kWorkerProtocol));
  }
  Hello hello;
  DeviceInfo& d = hello.device;
  d.name = fields.text();
  d.arch = fields.text();
  d.partition = fields.text();
  d.pci_id = fields.text();
  d.compute_units = fields.number<int32_t>();
  d.xcds = fields.number<int32_t>();
  d.group_rows = fields.number<int32_t>();
  d.memory_bytes = fields.number<int64_t>();
  d.local_memory_bytes = fields.number<int64_t>();
  d.last_level_cache_bytes = fields.number<int64_t>();
  db::Environment& e = hello.environment;
  e.driver = fields.text();
  e.runtime = fields.text();
  e.compiler = fields.text();
  e.code_hash = fields.text();
  e.tool_version = fields.text();
  fields.finish();
  return hello;
}

TimedRun parse_answer(std::string_view line) {
  FieldReader fields(line);
  const std::string_view kind = fields.text();
  if (kind == "error") throw_transmitted(fields, line);
  TimedRun answer;
  if (!parse_outcome_kind(kind, &answer.outcome.kind)) malformed(line);
  answer.time_us = fields.number<double>();
  if (!std::isfinite(answer.time_us) || answer.time_us < 0) malformed(line);
  answer.outcome.text = fields.text();
  fields.finish();
  return answer;
}

}  // namespace mla::tuner

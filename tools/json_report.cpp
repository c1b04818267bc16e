// SPDX-License-Identifier: MIT
// Documents of report, db and the two benches.
#include <nlohmann/json.hpp>

#include "tools/json.h"
#include "tools/json_values.h"

namespace mla::tools {
namespace {

Json json_dose(const std::vector<DosePoint>& dose, bool relative) {
  Json list = Json::array();
  for (const DosePoint& point : dose) {
    list.push_back({{"splits", point.splits},
                    {"config", json_config(point.config)},
                    {"samples", point.samples},
                    {relative ? "relative" : "time_us", json_number(point.time_us)},
                    {"low", json_number(point.low_us)},
                    {"high", json_number(point.high_us)},
                    {"gain", json_number(point.gain)}});
  }
  return list;
}

Json json_failures(const std::map<OutcomeKind, FailureGroup>& failures) {
  Json list = Json::array();
  for (const auto& [kind, group] : failures) {
    list.push_back({{"outcome", std::string(name(kind))},
                    {"count", group.count},
                    {"first_config", json_config(group.config)},
                    {"text", group.text}});
  }
  return list;
}

Json json_shape(const ReportShape& shape, bool relative) {
  Json object = json_winner(shape.summary.winner, relative);
  object["tuning_id"] = shape.summary.tuning_id;
  object["winner_id"] = shape.summary.winner_id;
  object["dose_response"] = json_dose(shape.dose, relative);
  object["failures"] = json_failures(shape.failures);
  object["quality"] = {{"rounds", shape.quality.rounds},
                       {"samples", shape.quality.samples},
                       {"spread", json_number(shape.quality.spread)},
                       {"drift", json_number(shape.quality.drift)}};
  return object;
}

Json json_runs(const std::vector<db::RunInfo>& runs) {
  Json list = Json::array();
  for (const db::RunInfo& run : runs) {
    list.push_back({{"started_utc", run.started_utc},
                    {"host", run.host},
                    {"command", run.command_line},
                    {"seed", run.seed}});
  }
  return list;
}

Json json_info(const db::DatabaseInfo& info) {
  return {{"path", info.path},
          {"database_id", info.database_id},
          {"database_schema", info.schema_version},
          {"journal_mode", info.journal_mode},
          {"file_bytes", info.file_bytes},
          {"devices", info.devices},
          {"problems", info.problems},
          {"candidates", info.candidates},
          {"runs", info.runs},
          {"tunings", info.tunings},
          {"tunings_open", info.tunings_open},
          {"rounds", info.rounds},
          {"samples", info.samples},
          {"outcomes", info.outcomes},
          {"winners", info.winners}};
}

}  // namespace

std::string report_json(const ReportData& report) {
  Json document = json_document();
  document["database"] = json_info(report.database);
  document["devices"] = Json::array();
  for (const ReportDevice& device : report.devices) {
    Json shapes = Json::array();
    for (const ReportShape& shape : device.shapes) {
      shapes.push_back(json_shape(shape, device.device.relative_times));
    }
    document["devices"].push_back({{"device", json_device(device.device)},
                                   {"environment", json_environment(device.environment)},
                                   {"runs", json_runs(device.runs)},
                                   {"protocols", device.protocols},
                                   {"summary", json_summary(device.summary)},
                                   {"shapes", std::move(shapes)}});
  }
  return json_text(document);
}

std::string host_bench_json(const HostBench& bench) {
  Json document = json_document();
  document["device"] = json_device(bench.device);
  document["rates"] = {{"read_gb_s", json_number(bench.rates.read_gb_s)},
                       {"fp32_gflop_s", json_number(bench.rates.fp32_gflop_s)},
                       {"bf16_dot_gflop_s", json_number(bench.rates.bf16_dot_gflop_s)}};
  document["rows"] = Json::array();
  for (const BenchOpRow& row : bench.rows) {
    document["rows"].push_back({{"label", row.label},
                                {"problem", json_problem(row.problem)},
                                {"config", json_config(row.config)},
                                {"outcome", std::string(name(row.outcome.kind))},
                                {"text", row.outcome.text},
                                {"rounds", row.rounds},
                                {"time_us", json_time_us(row.time_us, false)},
                                {"time_low_us", json_time_us(row.time_low_us, false)},
                                {"time_high_us", json_time_us(row.time_high_us, false)},
                                {"gflop_s", json_number(row.gflop_s)},
                                {"gb_s", json_number(row.gb_s)},
                                {"floor_us", json_time_us(row.floor_us, false)},
                                {"bound", row.bound},
                                {"share", json_number(row.share)}});
  }
  return json_text(document);
}

std::string lookup_bench_json(const LookupBench& bench) {
  Json document = json_document();
  document["times"] = Json::array();
  for (const LookupTime& time : bench.times) {
    document["times"].push_back({{"name", time.name},
                                 {"table_rows", time.table_rows},
                                 {"ns", json_number(time.ns)},
                                 {"ns_low", json_number(time.ns_low)},
                                 {"ns_high", json_number(time.ns_high)},
                                 {"goal_ns", json_number(time.goal_ns)}});
  }
  document["openings"] = Json::array();
  for (const LookupOpening& opening : bench.openings) {
    document["openings"].push_back(
        {{"rows", opening.rows},
         {"open_ms", json_number(opening.open_ms)},
         {"goal_ms", opening.goal_ms > 0 ? json_number(opening.goal_ms) : Json(nullptr)},
         {"bytes_per_row", json_number(opening.bytes_per_row)},
         {"goal_bytes_per_row", json_number(opening.goal_bytes_per_row)}});
  }
  document["concurrent"] = Json::array();
  for (const ConcurrentLookups& run : bench.concurrent) {
    document["concurrent"].push_back({{"threads", run.threads},
                                      {"reloads", run.reloads},
                                      {"reload_us", json_number(run.reload_us)},
                                      {"median_ns", json_number(run.median_ns)},
                                      {"p999_ns", json_number(run.p999_ns)},
                                      {"goal_ns", json_number(run.goal_ns)}});
  }
  return json_text(document);
}

std::string db_info_json(const db::DatabaseInfo& info) {
  Json document = json_document();
  document.update(json_info(info));
  return json_text(document);
}

std::string overlay_json(const Overlay& overlay) {
  Json document = json_document();
  document["files"] = Json::array();
  for (size_t i = 0; i < overlay.paths.size(); ++i) {
    document["files"].push_back({{"path", overlay.paths[i]},
                                 {"shapes", overlay.shapes[i]},
                                 {"answers", overlay.answers[i]}});
  }
  document["shapes"] = Json::array();
  for (const OverlaidShape& shape : overlay.all) {
    document["shapes"].push_back({{"device_key", shape.device_key},
                                  {"problem", json_problem(shape.problem)},
                                  {"file", shape.file},
                                  {"hidden", shape.hidden}});
  }
  return json_text(document);
}

namespace {

Json json_reach(const Reach& reach) {
  Json differences = Json::array(), unreachable = Json::array();
  for (const FieldDifference& one : reach.differences) {
    differences.push_back({{"stored_device", one.stored_device},
                           {"field", one.field},
                           {"expected", one.expected},
                           {"found", one.found},
                           {"hard", one.hard},
                           {"rows", one.rows}});
  }
  for (const UnreachableRow& row : reach.unreachable) {
    unreachable.push_back({{"problem", json_problem(row.problem)},
                           {"stored_device", row.stored_device},
                           {"reason", row.reason}});
  }
  return {{"device", reach.device},
          {"answers", reach.answers},
          {"verify_again", reach.verify_again},
          {"differences", std::move(differences)},
          {"unreachable", std::move(unreachable)}};
}

}  // namespace

std::string db_check_json(const std::string& path,
                          const std::vector<db::Store::CheckRow>& rows,
                          const Reach& reach) {
  Json document = json_document();
  document["path"] = path;
  bool ok = true;
  Json list = Json::array();
  for (const db::Store::CheckRow& row : rows) {
    ok = ok && row.ok;
    list.push_back({{"ok", row.ok}, {"check", row.check}, {"detail", row.detail}});
  }
  document["ok"] = ok;
  document["checks"] = std::move(list);
  if (ok) document["reach"] = json_reach(reach);
  return json_text(document);
}

}  // namespace mla::tools

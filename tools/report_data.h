// SPDX-License-Identifier: MIT
// What a report says, gathered from a database; the writers only format it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/store.h"
#include "kernels/outcome.h"
#include "tools/results.h"

namespace mla::tools {

// One point of a dose-response curve: the best configuration of one split count.
struct DosePoint {
  int32_t splits = 0;
  KernelConfig config;
  int64_t samples = 0;
  double time_us = 0;  // median
  double low_us = 0;   // quartiles
  double high_us = 0;
  // Median over the rounds of reference / this - 1, each ratio inside its own round; 0 where no
  // round holds both.
  double gain = 0;
};

// What a fitted model says of a split count.
struct ModelPoint {
  double splits = 0;
  double time_us = 0;
};

struct FailureGroup {
  int64_t count = 0;
  KernelConfig config;  // of the first
  std::string text;
};

struct Quality {
  int64_t rounds = 0;
  int64_t samples = 0;
  double spread = 0;  // median over configurations of half the interquartile range / median
  double drift =
      0;  // the reference's median in the last quarter of the search rounds over the first, - 1
};

struct ReportShape {
  db::TuningSummary summary;
  std::vector<DosePoint> dose;    // by splits, ascending
  std::vector<ModelPoint> model;  // by splits; empty where no model is fitted
  std::map<OutcomeKind, FailureGroup> failures;
  std::vector<db::LossRecord> losses;  // of neighbours' winners here
  Quality quality;
};

// Shapes measured by one device in one environment.
struct ReportDevice {
  DeviceInfo device;
  db::Environment environment;
  std::vector<db::RunInfo> runs;  // distinct
  std::vector<std::string> protocols;
  ResultSummary summary;
  std::vector<ReportShape> shapes;
};

struct ReportData {
  db::DatabaseInfo database;
  std::vector<ReportDevice> devices;
};

ReportData gather_report(const db::Store& store);

std::string report_markdown(const ReportData& report);
std::string report_csv(const ReportData& report);

std::vector<db::WinnerRecord> winners_of(const ReportDevice& device);

}  // namespace mla::tools

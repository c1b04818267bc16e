// SPDX-License-Identifier: MIT
// The documents behind --json, as text. Names are those of the knobs and of the database's columns,
// units are in the names, gains are fractions (0.05 is five per cent), unknown numbers are null.
#pragma once

#include <string>
#include <vector>

#include "db/store.h"
#include "kernels/device.h"
#include "kernels/space.h"
#include "tools/bench_lookup.h"
#include "tools/bench_op.h"
#include "tools/db_reach.h"
#include "tools/lookup_view.h"
#include "tools/loop_budget.h"
#include "tools/overlay.h"
#include "tools/report_data.h"
#include "tools/run_plan.h"
#include "tuner/session.h"

namespace mla::tools {

struct RunDocument {
  std::string command_line;
  std::vector<std::string> device_specs;  // of devices of one kind
  DeviceInfo device;                      // the first
  std::string database;
  std::string status;  // "done", "out_of_budget", "stopped", "failed"
  const tuner::SessionResult* result = nullptr;
};

std::string devices_json(const std::vector<DeviceListing>& listings);
// `budgets`: null without --budget.
std::string space_json(const Space& space,
                       const Problem& problem,
                       const Space::Listing& listing,
                       const std::vector<LoopBudget>* budgets);
std::string plan_json(const RunPlan& plan);
std::string run_json(const RunDocument& run);
// One view: the object of a lookup as such; several: a list of them.
std::string lookup_json(const std::vector<LookupView>& views, bool explain);
std::string report_json(const ReportData& report);
std::string host_bench_json(const HostBench& bench);
std::string lookup_bench_json(const LookupBench& bench);
std::string db_info_json(const db::DatabaseInfo& info);
std::string overlay_json(const Overlay& overlay);
// `reach`: of a sound file, else empty.
std::string db_check_json(const std::string& path,
                          const std::vector<db::Store::CheckRow>& rows,
                          const Reach& reach);

}  // namespace mla::tools

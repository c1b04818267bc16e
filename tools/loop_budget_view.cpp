// SPDX-License-Identifier: MIT
#include "tools/loop_budget_view.h"

#include <fmt/format.h>

namespace mla::tools {
namespace {

std::string pipe_cell(double cycles, double memory_cycles) {
  return fmt::format("{:.0f} ({:.0f} %)", cycles, 100 * cycles / memory_cycles);
}

Table budget_table(const std::vector<LoopBudget>& budgets) {
  Table table;
  table.column("loop");
  for (const char* title :
       {"memory", "MFMA", "VALU", "SALU", "LDS", "VMEM", "addresses", "in flight", "covers"}) {
    table.column(title, Table::Align::kRight);
  }
  table.column("verdict");
  for (const LoopBudget& budget : budgets) {
    const double memory = budget.memory_cycles;
    table.row(
        {symbol_name(budget.kernel),
         fmt::format("{:.0f}", memory),
         pipe_cell(budget.cycles.mfma, memory),
         pipe_cell(budget.cycles.valu, memory),
         pipe_cell(budget.cycles.salu, memory),
         pipe_cell(budget.cycles.lds, memory),
         pipe_cell(budget.cycles.vmem, memory),
         fmt::format("{:.0f} %", 100 * budget.address_share),
         fmt::format("{:.1f} KiB", budget.in_flight_bytes / 1024),
         fmt::format("{:.0f} ns", budget.covered_ns),
         budget.misses.empty() ? "ok" : fmt::format("misses {}", fmt::join(budget.misses, ", "))},
        budget.misses.empty() ? Style::kGood : Style::kPlain);
  }
  return table;
}

}  // namespace

std::string budget_text(const DeviceInfo& device,
                        const std::vector<LoopBudget>& budgets,
                        const Terminal& terminal) {
  const CardRates card = *card_rates(device);
  return fmt::format(
      "loop budget of {}: cycles at {:.1f} GHz for one KV block, counted in the machine code and "
      "not measured;\n"
      "MFMA, VALU and SALU of a SIMD, LDS and VMEM of a CU; memory: the block at the CU's "
      "{:.1f} GB/s\n\n{}\n"
      "limits: every pipe {:.0f} % of memory, addresses {:.0f} % of the issue cycles, {} in flight "
      "a CU; memory latency\n"
      "under load is not published, {:.0f} ns are assumed in estimates\n",
      card.name,
      card.clock_ghz,
      card.memory_gb_s,
      budget_table(budgets).text(terminal),
      100 * kMaxPipeShare,
      100 * kMaxAddressShare,
      bytes_text(static_cast<double>(least_in_flight_bytes(device.arch))),
      kMemoryLatency_ns);
}

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// SIGINT and SIGTERM while something is measured: the first asks for an orderly stop, the second
// ends the process at once (a database stays consistent: every round is one transaction).
#pragma once

#include <atomic>

namespace mla::tools {

void install_stop_signals();

// Set by the first signal; polled by whatever measures.
const std::atomic<bool>& stop_requested();

// The signal that asked for the stop; 0 for none.
int stop_signal();

}  // namespace mla::tools

// SPDX-License-Identifier: MIT
// What the parts of Store share. Private to db/.
#pragma once

#include <functional>

#include "db/connection.h"
#include "db/fields.h"
#include "db/store.h"

namespace mla::db {

struct Store::Impl {
  Impl(const std::string& path, OpenMode mode) : connection(path, mode), candidates(connection) {}

  void write(const std::function<void()>& body) {
    try {
      connection.write(body);
    } catch (...) {
      candidates.forget();
      throw;
    }
  }

  Connection connection;
  CandidateIds candidates;
};

// The tuning with this key, or a new one under `run_id`. `key`: device_id, environment_id,
// problem_id, protocol and seed, in this order. Inside a write.
TuningState find_or_begin_tuning(Connection& connection, Fields key, int64_t run_id);

// Inside a read or write.
WinnerRecord load_winner_row(Connection& connection, int64_t winner_id);

}  // namespace mla::db

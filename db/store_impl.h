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

}  // namespace mla::db

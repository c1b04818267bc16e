// SPDX-License-Identifier: MIT
// What the parts of Store share. Private to db/.
#pragma once

#include "db/connection.h"
#include "db/rows.h"
#include "db/store.h"

namespace mla::db {

struct Store::Impl {
  Impl(const std::string& path, OpenMode mode) : connection(path, mode) {}

  Connection connection;
};

}  // namespace mla::db

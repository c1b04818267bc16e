// SPDX-License-Identifier: MIT
#include "db/store.h"

#include <filesystem>

#include "db/schema.h"
#include "db/store_impl.h"

namespace mla::db {

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::string& path, OpenMode mode) {
  auto impl = std::make_unique<Impl>(path, mode);
  if (mode == OpenMode::kReadWrite) {
    prepare_for_writing(impl->connection);
  } else {
    require_schema(impl->connection);
  }
  return Store(std::move(impl));
}

const std::string& Store::path() const {
  return impl_->connection.path();
}

DatabaseInfo Store::info() const {
  Connection& c = impl_->connection;
  DatabaseInfo info;
  info.path = c.path();
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(c.path(), unknown);
  info.file_bytes = unknown ? 0 : static_cast<int64_t>(bytes);
  c.read([&] {
    const auto meta = [&](const std::string& key) {
      return c.text("SELECT value FROM meta WHERE key = '" + key + "'");
    };
    info.database_id = meta("database_id");
    info.parents = meta("parents");
    info.shipped_by = meta("shipped_by");
    info.shipped_utc = meta("shipped_utc");
    info.content_sha256 = meta("content_sha256");
    info.schema_version = static_cast<int32_t>(c.integer("PRAGMA user_version"));
    info.journal_mode = c.text("PRAGMA journal_mode");
    const auto rows = [&](const std::string& of) {
      return c.integer("SELECT count(*) FROM " + of);
    };
    info.devices = rows("device");
    info.problems = rows("problem");
    info.candidates = rows("candidate");
    info.runs = rows("run");
    info.tunings = rows("tuning");
    info.tunings_open = rows("tuning WHERE finished = 0");
    info.rounds = rows("round");
    info.samples = rows("sample");
    info.outcomes = rows("outcome");
    info.winners = rows("winner");
  });
  return info;
}

}  // namespace mla::db

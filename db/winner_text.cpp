// SPDX-License-Identifier: MIT
#include "db/winner_text.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "db/rows.h"
#include "db/schema.h"
#include "db/store_impl.h"
#include "db/text_line.h"
#include "kernels/error.h"
#include "kernels/spaces.h"

namespace mla::db {
namespace {

constexpr std::string_view kHeader = "# mla-tune winners 1";

std::string to_text(const Fields& row) {
  std::string text;
  for (const Field& field : row) text += to_text(field);
  return text;
}

// Rows that several winners point to, numbered in the order of their first use.
class Numbered {
 public:
  // The number of the row; its own line is added to `text` at the first use.
  int64_t number(const char* kind, const Fields& row, std::string* text) {
    const std::string columns = to_text(row);
    const auto [known, fresh] =
        numbers_.try_emplace(columns, static_cast<int64_t>(numbers_.size()) + 1);
    if (fresh) {
      text->append(kind).append(" ").append(std::to_string(known->second));
      text->append(columns).append("\n");
    }
    return known->second;
  }

 private:
  std::map<std::string, int64_t> numbers_;
};

// Adds the lines of a text to a database, inside one write.
class Importer {
 public:
  Importer(Connection& connection, CandidateIds* candidates)
      : c_(connection), candidates_(*candidates) {}

  void add(const std::string& text_line) {
    TextLine line(text_line);
    if (line.kind() == "device") {
      add_device(&line);
    } else if (line.kind() == "environment") {
      environments_[line.number()] =
          find_or_insert(c_, "environment", line.fields(fields(Environment{})));
    } else if (line.kind() == "run") {
      runs_[line.number()] = find_or_insert(c_, "run", line.fields(fields(RunInfo{})));
    } else if (line.kind() == "winner") {
      add_winner(&line);
    } else if (line.kind() == "loss") {
      add_loss(&line);
    } else {
      throw BadLine("begins with none of device, environment, run, winner, loss");
    }
    line.finish();
  }

  const Imported& result() const { return result_; }

 private:
  struct Device {
    int64_t id = 0;
    Space space;
  };

  template <class Row>
  static const Row& referred(const std::map<int64_t, Row>& rows, TextLine* line, const char* what) {
    const auto found = rows.find(line->integer(what));
    if (found == rows.end()) throw BadLine(std::string(what) + ": no line above defines it");
    return found->second;
  }

  // Read back as a reader would, so that nothing gets in that could not be used.
  void add_device(TextLine* line) {
    const int64_t number = line->number();
    const int64_t id = find_or_insert(c_, "device", line->fields(fields(DeviceInfo{})));
    SQLite::Statement& query = c_.statement("SELECT " + columns("d", fields(DeviceInfo{})) +
                                            " FROM device AS d WHERE d.id = ?");
    query.bind(1, id);
    Cursor row(query);
    row.next();
    devices_[number] = {id, make_space(read_device(row))};
  }

  KernelConfig config(TextLine* line, const char* key, const Device& device) {
    const KernelConfig config = parse_config(line->text(key));
    if (const auto violation = device.space.violation(problem_, config))
      throw BadLine(std::string(key) + ": " + *violation);
    return config;
  }

  void add_winner(TextLine* line) {
    device_ = &referred(devices_, line, "device");
    const int64_t environment_id = referred(environments_, line, "environment");
    const int64_t run_id = referred(runs_, line, "run");
    problem_ = parse_problem(line->text("problem"));
    Fields key = {{"device_id", device_->id},
                  {"environment_id", environment_id},
                  {"problem_id", find_or_insert(c_, "problem", fields(problem_))},
                  {"protocol", line->text("protocol")},
                  {"seed", line->integer("seed")}};
    tuning_id_ = find_or_begin_tuning(c_, std::move(key), run_id).id;
    Fields row = {{"tuning_id", tuning_id_}};
    for (const auto& [name, column] : {std::pair{"config", "config_id"},
                                       std::pair{"default", "default_id"},
                                       std::pair{"finalist", "finalist_id"}}) {
      row.push_back({column, candidates_.id(config(line, name, *device_))});
    }
    for (Field& field : line->fields(fields(WinnerRecord{}))) row.push_back(std::move(field));
    const int64_t current = current_winner();
    const bool unchanged = current != 0 && is_row(current, row);
    (unchanged ? result_.unchanged : result_.added) += 1;
    require_readable(unchanged ? current : insert(c_, "winner", row));
    SQLite::Statement& finish = c_.statement("UPDATE tuning SET finished = 1 WHERE id = ?");
    finish.bind(1, tuning_id_);
    finish.exec();
  }

  // Of the shape at hand, as Store::summaries() has it.
  int64_t current_winner() {
    SQLite::Statement& query = c_.statement(
        "SELECT max(w.id) FROM winner AS w JOIN tuning AS t ON t.id = w.tuning_id"
        " JOIN device AS d ON d.id = t.device_id JOIN tuning AS mine ON mine.id = ?1"
        " JOIN device AS my_device ON my_device.id = mine.device_id"
        " WHERE t.problem_id = mine.problem_id AND d.hard_key = my_device.hard_key");
    query.bind(1, tuning_id_);
    return query.executeStep() ? query.getColumn(0).getInt64() : 0;
  }

  bool is_row(int64_t winner_id, const Fields& row) {
    std::string sql = "SELECT 1 FROM winner WHERE id = ?";
    Fields values = {{"id", winner_id}};
    for (const Field& field : row) {
      sql += " AND " + std::string(field.column) + " = ?";
      values.push_back(field);
    }
    SQLite::Statement& query = c_.statement(sql);
    bind_fields(query, values);
    return query.executeStep();
  }

  void require_readable(int64_t winner_id) {
    SQLite::Statement& query = c_.statement("SELECT " + columns("w", fields(WinnerRecord{})) +
                                            " FROM winner AS w WHERE w.id = ?");
    query.bind(1, winner_id);
    Cursor row(query);
    row.next();
    WinnerRecord winner;
    read_winner(row, &winner);
  }

  void add_loss(TextLine* line) {
    if (device_ == nullptr) throw BadLine("a loss belongs below a winner");
    const int64_t candidate_id = candidates_.id(config(line, "config", *device_));
    SQLite::Statement& older =
        c_.statement("DELETE FROM loss WHERE tuning_id = ? AND candidate_id = ?");
    older.bind(1, tuning_id_);
    older.bind(2, candidate_id);
    older.exec();
    Fields row = line->fields(fields(LossRecord{}));
    row.push_back({"tuning_id", tuning_id_});
    row.push_back({"candidate_id", candidate_id});
    insert(c_, "loss", row);
  }

  Connection& c_;
  CandidateIds& candidates_;
  std::map<int64_t, Device> devices_;
  std::map<int64_t, int64_t> environments_, runs_;
  // Of the winner at hand.
  const Device* device_ = nullptr;
  Problem problem_;
  int64_t tuning_id_ = 0;
  Imported result_;
};

void import_lines(std::string_view text, const std::string& name, Importer* importer) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto fail = [&](const std::string& why) {
      throw Error(ErrorCode::kUsage, name + ":" + std::to_string(number) + ": " + why);
    };
    try {
      if (number == 1 && line != kHeader) throw BadLine("is not '" + std::string(kHeader) + "'");
      if (!line.empty() && line[0] != '#') importer->add(line);
    } catch (const BadLine& error) {
      fail(error.what());
    } catch (const BadRow& error) {
      fail(error.what());
    } catch (const Error& error) {
      fail(error.what());
    } catch (const SQLite::Exception& error) {
      if (error.getErrorCode() != SQLITE_CONSTRAINT) throw;
      fail(error.what());
    }
  }
  if (number == 0) throw Error(ErrorCode::kUsage, name + ": is empty");
}

}  // namespace

std::string export_winners(const Store& store) {
  std::string text = std::string(kHeader) + "\n";
  Numbered devices, environments, runs;
  for (const TuningSummary& summary : store.summaries()) {
    const WinnerRecord& winner = summary.winner;
    const int64_t device = devices.number("device", fields(summary.device), &text);
    const int64_t environment =
        environments.number("environment", fields(summary.environment), &text);
    const int64_t run = runs.number("run", fields(summary.run), &text);
    text += "winner" + to_text(Fields{{"device", device},
                                      {"environment", environment},
                                      {"run", run},
                                      {"protocol", summary.protocol},
                                      {"seed", seed_bits(summary.seed)},
                                      {"problem", mla::to_text(winner.problem)},
                                      {"config", mla::to_text(winner.config)},
                                      {"default", mla::to_text(winner.default_config)},
                                      {"finalist", mla::to_text(winner.finalist)}});
    text += to_text(fields(winner)) + "\n";
    // By configuration: candidates are numbered as they came, which an import does not keep.
    std::vector<LossRecord> losses = store.load_losses(summary.tuning_id);
    std::sort(losses.begin(), losses.end(), [](const LossRecord& a, const LossRecord& b) {
      return a.config < b.config;
    });
    for (const LossRecord& loss : losses) {
      text += "loss" + to_text(Fields{{"config", mla::to_text(loss.config)}}) +
              to_text(fields(loss)) + "\n";
    }
  }
  return text;
}

Imported import_winners(std::string_view text, const std::string& name, const std::string& path) {
  Connection c(path, OpenMode::kReadWrite);
  prepare_for_writing(c);
  CandidateIds candidates(c);
  Imported result;
  c.write([&] {
    Importer importer(c, &candidates);
    import_lines(text, name, &importer);
    result = importer.result();
  });
  return result;
}

}  // namespace mla::db

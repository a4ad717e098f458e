#include "results/store/run_rows.h"

#include <map>
#include <set>
#include <utility>

#include "models/base/errors.h"
#include "results/store/gzip.h"
#include "results/store/members.h"

namespace bench::results {
namespace {

using nlohmann::json;

Cell text_cell(const json& record, const char* path) {
  std::string text = text_at(record, path);
  return text.empty() ? Cell() : Cell(std::move(text));
}

Cell integer_cell(const json& record, const char* path) {
  const json* value = member_at(record, path);
  return value != nullptr && value->is_number_integer() ? Cell(value->get<std::int64_t>()) : Cell();
}

Cell number_cell(const json& record, const char* path) {
  const json* value = member_at(record, path);
  return value != nullptr && value->is_number() ? Cell(value->get<double>()) : Cell();
}

/// The names of all GPUs, each once.
Cell gpu_cell(const json& record) {
  const json* gpus = member_at(record, "gpu");
  std::set<std::string> names;
  if (gpus != nullptr && gpus->is_array()) {
    for (const json& gpu : *gpus) {
      names.insert(text_at(gpu, "name"));
    }
  }
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text.empty() ? Cell() : Cell(text);
}

Cell threads_cell(const json& record) {
  const json* used = member_at(record, "cpu.processors_used");
  return used != nullptr && used->is_array() ? Cell(static_cast<std::int64_t>(used->size()))
                                             : Cell();
}

const char* name_of(Better better) {
  switch (better) {
    case Better::kHigher:
      return "higher";
    case Better::kLower:
      return "lower";
    case Better::kNone:
      break;
  }
  return "none";
}

Better better_of(const std::string& name) {
  return name == "higher" ? Better::kHigher : name == "lower" ? Better::kLower : Better::kNone;
}

void insert_metrics(const Database& database, std::int64_t run_id, const StoredRun& run) {
  Statement insert = database.prepare("INSERT INTO metric VALUES(?, ?, ?, ?, ?, ?)");
  for (const auto& [name, metric] : run.metrics) {
    insert.bind(1, run_id)
        .bind(2, name)
        .bind(3, metric.value)
        .bind(4, metric.unit)
        .bind(5, std::string(name_of(metric.better)))
        .bind(6, std::string(metric.kind == Kind::kExact ? "exact" : "noisy"))
        .run();
  }
}

Statement bound(const Database& database, const std::string& sql, const Filter& filter) {
  Statement statement = database.prepare(sql);
  int index = 0;
  for (const Cell& value : filter.values) {
    statement.bind(++index, value);
  }
  return statement;
}

StoredRun summary_of(const Database& database, const Statement& row) {
  StoredRun run;
  int column = 1;
  run.record_id = row.text(column++);
  run.group_id = row.text(column++);
  run.start_ms = row.integer(column++);
  run.label = row.text(column++);
  run.reason = row.text(column++);
  run.status = row.text(column++);
  run.workload_key = row.text(column++);
  run.workload = row.text(column++);
  run.machine_key = row.text(column++);
  run.machine = row.text(column++);
  run.environment_key = row.text(column++);
  run.git_rev = row.text(column++);
  if (const Cell dirty = row.cell(column++); std::holds_alternative<std::int64_t>(dirty)) {
    run.dirty = std::get<std::int64_t>(dirty) != 0;
  }
  const json tags = json::parse(row.text(column), nullptr, false);
  if (!tags.is_object()) database.refuse_as_damaged();
  for (const auto& [name, value] : tags.items()) {
    if (!value.is_string()) database.refuse_as_damaged();
    run.tags[name] = value.get<std::string>();
  }
  return run;
}

}  // namespace

bool insert_run(const Database& database, const StoredRun& run) {
  const json& record = run.record;
  Statement insert = database.prepare(
      "INSERT INTO run(record_id, group_id, t_start, label, reason, status, workload_key, "
      "workload, "
      "machine_fp, machine, env_fp, git_rev, git_time, dirty, tags, model, mode, dtype, batch, "
      "devices, backend, data, host, cpu, gpu, isa, threads, score) VALUES(?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(record_id) DO "
      "NOTHING");
  const std::vector<Cell> cells = {run.record_id,
                                   run.group_id,
                                   run.start_ms,
                                   run.label,
                                   run.reason,
                                   run.status,
                                   run.workload_key,
                                   run.workload,
                                   run.machine_key,
                                   run.machine,
                                   run.environment_key,
                                   run.git_rev,
                                   text_cell(record, "source.commit_time"),
                                   run.dirty ? Cell(std::int64_t{*run.dirty ? 1 : 0}) : Cell(),
                                   compact(json(run.tags)),
                                   text_cell(record, "workload.model"),
                                   text_cell(record, "workload.mode"),
                                   text_cell(record, "workload.dtype"),
                                   integer_cell(record, "workload.batch_per_device"),
                                   integer_cell(record, "workload.devices"),
                                   text_cell(record, "workload.backend"),
                                   text_cell(record, "workload.data"),
                                   text_cell(record, "host.hostname"),
                                   text_cell(record, "cpu.model"),
                                   gpu_cell(record),
                                   text_cell(record, "cpu.isa_used"),
                                   threads_cell(record),
                                   number_cell(record, "quality.score")};
  int index = 0;
  for (const Cell& cell : cells) {
    insert.bind(++index, cell);
  }
  insert.run();
  if (database.changes() == 0) {
    return false;
  }
  const std::int64_t run_id = database.integer_of("SELECT last_insert_rowid()").value_or(0);
  database.prepare("INSERT INTO record VALUES(?, ?)")
      .bind(1, run_id)
      .bind_blob(2, gzip(compact(record)))
      .run();
  insert_metrics(database, run_id, run);
  return true;
}

void delete_run(const Database& database, const std::string& record_id) {
  for (const char* table : {"record", "metric"}) {
    database
        .prepare(fmt::format(
            "DELETE FROM {} WHERE run_id = (SELECT id FROM run WHERE record_id = ?)", table))
        .bind(1, record_id)
        .run();
  }
  database.prepare("DELETE FROM run WHERE record_id = ?").bind(1, record_id).run();
}

std::vector<StoredRun> read_summaries(const Database& database, const Filter& filter) {
  std::vector<StoredRun> runs;
  std::map<std::int64_t, std::size_t> places;
  Statement rows = bound(
      database,
      fmt::format(
          "SELECT id, record_id, group_id, t_start, label, reason, status, workload_key, workload, "
          "machine_fp, machine, env_fp, git_rev, dirty, tags FROM run WHERE {} "
          "ORDER BY t_start, record_id",
          filter.where),
      filter);
  while (rows.step()) {
    places[rows.integer(0)] = runs.size();
    runs.push_back(summary_of(database, rows));
  }
  Statement metrics = bound(
      database,
      fmt::format(
          "SELECT run_id, name, value, unit, better, kind FROM metric WHERE run_id IN (SELECT "
          "id FROM run WHERE {})",
          filter.where),
      filter);
  while (metrics.step()) {
    const auto place = places.find(metrics.integer(0));
    if (place == places.end()) {
      continue;  // Added between the two queries.
    }
    const Cell cell = metrics.cell(2);
    const auto* const value = std::get_if<double>(&cell);
    if (value == nullptr) database.refuse_as_damaged();
    runs[place->second].metrics[metrics.text(1)] = {
        .value = *value,
        .unit = metrics.text(3),
        .better = better_of(metrics.text(4)),
        .kind = metrics.text(5) == "exact" ? Kind::kExact : Kind::kNoisy};
  }
  return runs;
}

std::vector<StoredRun> read_records(const Database& database, const Filter& filter) {
  std::vector<StoredRun> runs;
  Statement rows =
      bound(database,
            fmt::format("SELECT record_id, json FROM run JOIN record ON run_id = id WHERE {} "
                        "ORDER BY t_start, record_id",
                        filter.where),
            filter);
  while (rows.step()) {
    runs.push_back(
        parse_run(gunzip(rows.text(1)), fmt::format("{}: run {}", database.name(), rows.text(0))));
  }
  return runs;
}

}  // namespace bench::results

#include "results/store/schema.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/base/errors.h"

namespace bench::results {
namespace {

/// "benc": marks a database as ours.
constexpr std::int64_t kApplicationId = 0x62656e63;

/// The record has a separate table, so that a list reads few pages.
constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  record_id TEXT NOT NULL UNIQUE,
  group_id TEXT NOT NULL,
  t_start INTEGER NOT NULL,
  label TEXT NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL,
  workload_key TEXT NOT NULL,
  workload TEXT NOT NULL,
  machine_fp TEXT NOT NULL,
  machine TEXT NOT NULL,
  env_fp TEXT NOT NULL,
  git_rev TEXT NOT NULL,
  git_time TEXT,
  dirty INTEGER,
  tags TEXT NOT NULL,
  model TEXT,
  mode TEXT,
  dtype TEXT,
  batch INTEGER,
  devices INTEGER,
  backend TEXT,
  data TEXT,
  host TEXT,
  cpu TEXT,
  gpu TEXT,
  isa TEXT,
  threads INTEGER,
  score REAL
) STRICT;
CREATE INDEX run_start ON run(t_start);
CREATE INDEX run_series ON run(workload_key, machine_fp, t_start);
CREATE INDEX run_group ON run(group_id);
CREATE TABLE record(
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  json BLOB NOT NULL
) STRICT;
CREATE TABLE metric(
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  unit TEXT NOT NULL,
  better TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY(run_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX metric_name ON metric(name, run_id);
CREATE TABLE baseline(
  name TEXT PRIMARY KEY,
  selector TEXT NOT NULL,
  run_ids TEXT NOT NULL,
  created INTEGER NOT NULL,
  note TEXT NOT NULL
) STRICT;
CREATE TABLE changepoint(
  series_key TEXT NOT NULL,
  at_run TEXT NOT NULL,
  p REAL,
  effect REAL,
  lo REAL,
  hi REAL,
  state TEXT NOT NULL,
  note TEXT NOT NULL,
  by TEXT NOT NULL,
  PRIMARY KEY(series_key, at_run)
) STRICT;
CREATE TABLE annotation(
  series_key TEXT NOT NULL,
  run TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY(series_key, run, text)
) STRICT;
)sql";

using Type = StoredColumn::Type;

constexpr auto kColumns = std::to_array<StoredColumn>({
    {"id", "record_id", Type::kPrefix, "id of the run"},
    {"group", "group_id", Type::kPrefix, "id of the group of repeats"},
    {"start", "t_start", Type::kTime, "start time, UTC"},
    {"label", "label", Type::kText, "the value of --label"},
    {"reason", "reason", Type::kText, "nightly, pr, procurement or adhoc"},
    {"status", "status", Type::kText, "ok, failed or aborted"},
    {"workload", "workload", Type::kText, "such as 'resnet50 train bs64 f32'"},
    {"machine", "machine", Type::kText, "host, GPU, processor, threads, instruction set"},
    {"model", "model", Type::kText, "the network"},
    {"mode", "mode", Type::kText, "train or fwd"},
    {"dtype", "dtype", Type::kText, "f32, bf16, ..."},
    {"batch", "batch", Type::kNumber, "examples per device"},
    {"devices", "devices", Type::kNumber, "number of devices"},
    {"backend", "backend", Type::kText, "onednn, ..."},
    {"data", "data", Type::kText, "synthetic, tfrecord, ..."},
    {"host", "host", Type::kText, "host name"},
    {"cpu", "cpu", Type::kText, "processor name"},
    {"gpu", "gpu", Type::kText, "GPU name"},
    {"isa", "isa", Type::kText, "instruction set that limits the kernels"},
    {"threads", "threads", Type::kNumber, "number of compute threads"},
    {"git", "git_rev", Type::kPrefix, "revision of bench"},
    {"dirty", "dirty", Type::kNumber, "1: built from uncommitted changes"},
    {"score", "score", Type::kNumber, "quality score, 0 to 100"},
    {"images_per_sec",
     "(SELECT value FROM metric WHERE run_id = run.id AND name = 'images_per_sec')", Type::kNumber,
     "throughput of the whole run"},
    {"speed",
     "(SELECT value FROM metric WHERE run_id = run.id AND name IN "
     "('images_per_sec', 'tokens_per_sec', 'examples_per_sec'))",
     Type::kNumber, "the same for any model, in the unit of the next column"},
    {"unit",
     "(SELECT unit FROM metric WHERE run_id = run.id AND name IN "
     "('images_per_sec', 'tokens_per_sec', 'examples_per_sec'))",
     Type::kText, "images/s, tokens/s or examples/s"},
    {"workload_key", "workload_key", Type::kText, "equal for the same workload"},
    {"machine_key", "machine_fp", Type::kText, "equal for the same hardware"},
    {"environment_key", "env_fp", Type::kText,
     "equal for the same hardware, software and settings"},
});

[[noreturn]] void refuse(const Database& database, std::string_view why) {
  throw DataError(fmt::format("{}: {}", database.name(), why));
}

bool is_empty(const Database& database) {
  return database.integer_of("SELECT count(*) FROM sqlite_master") == 0;
}

void check_version(const Database& database) {
  if (database.integer_of("PRAGMA application_id") != kApplicationId) {
    refuse(database, "the database belongs to another program, not to bench_results");
  }
  const auto version =
      database.integer_of("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'");
  if (version != kStoreVersion) {
    refuse(database, fmt::format("the tables have version {}, but this program reads version {}; "
                                 "use the bench_results that created them",
                                 version.value_or(0), kStoreVersion));
  }
}

}  // namespace

void make_schema(const Database& database) {
  if (!is_empty(database)) {
    return check_version(database);
  }
  Transaction transaction(database);
  if (is_empty(database)) {
    database.run(kTables);
    database.run(fmt::format("INSERT INTO meta VALUES('schema_version', '{}')", kStoreVersion));
    database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  }
  transaction.commit();
  check_version(database);
}

void check_schema(const Database& database) {
  if (is_empty(database)) {
    refuse(database, "the database is empty: it has no runs of bench_results");
  }
  check_version(database);
}

std::span<const StoredColumn> stored_columns() { return kColumns; }

const StoredColumn* find_column(std::string_view name) {
  const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                   [&](const StoredColumn& column) { return column.name == name; });
  return found == kColumns.end() ? nullptr : found;
}

}  // namespace bench::results

#include "results/store/store.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "models/base/errors.h"
#include "models/base/makeable_folder.h"
#include "results/store/folder.h"
#include "results/store/members.h"
#include "results/store/run_rows.h"
#include "results/store/schema.h"

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return !path.has_filename() || fs::is_directory(path, ignored);
}

/// Digits of a whole record_id.
constexpr std::size_t kIdDigits = 16;

void make_folder(const fs::path& path) {
  if (path.empty()) {
    return;
  }
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw WriteError(
        fmt::format("{}: cannot create the folder: {}", path.string(), error.message()));
  }
}

/// Readers continue while another program writes. The switch itself needs exclusive use of the
/// database, and does not wait as other statements do.
void use_write_ahead_log(const Database& database) {
  constexpr int kTries = 200;
  for (int i = 0;; ++i) {
    try {
      database.run("PRAGMA journal_mode = WAL");
      return;
    } catch (const DataError&) {
      if (i == kTries) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

void check_is_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    throw DataError(fmt::format("{}: cannot open the store: {}", path.string(), error.message()));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw DataError(path.string() + ": a store must be a regular file or a folder");
  }
}

std::unique_ptr<Database> open_with_schema(const fs::path& path, Database::Mode mode) {
  auto database = std::make_unique<Database>(path, mode);
  check_schema(*database);
  return database;
}

/// A database that this user may not be able to write.
std::unique_ptr<Database> open_to_read(const fs::path& path) {
  try {
    return open_with_schema(path, Database::Mode::kRead);
  } catch (const WriteError&) {
    if (::access(path.c_str(), R_OK) != 0) throw;
  }
  // SQLite could not create the files of the write-ahead log next to the database.
  for (const char* suffix : {"-wal", "-journal"}) {
    const fs::path log = path.string() + suffix;
    if (!fs::exists(log) || fs::is_empty(log)) continue;
    throw DataError(fmt::format(
        "{}: cannot read the store while another user's program writes to it; try again when {} is "
        "gone, or copy both files into a folder of your own",
        path.string(), log.string()));
  }
  return open_with_schema(path, Database::Mode::kReadUnlocked);
}

std::unique_ptr<Database> open_database(const fs::path& path, Store::Access access) {
  check_is_file(path);
  if (access == Store::Access::kRead) {
    if (!fs::exists(path)) {
      throw DataError(
          fmt::format("{}: the store does not exist; create it with `bench --store` or "
                      "`bench_results store FILE`",
                      path.string()));
    }
    return open_to_read(path);
  }
  make_folder(path.parent_path());
  auto database = std::make_unique<Database>(path, Database::Mode::kWrite);
  if (database->integer_of("SELECT count(*) FROM sqlite_master") == 0) {
    use_write_ahead_log(*database);
  }
  make_schema(*database);
  database->run("PRAGMA synchronous = FULL");
  return database;
}

/// If a folder or its index cannot be written, its index is in memory.
std::unique_ptr<Database> open_index(const fs::path& folder) {
  const fs::path path = index_path(folder);
  check_is_file(path);
  const bool writable = ::access(folder.c_str(), W_OK) == 0 &&
                        (!fs::exists(path) || ::access(path.c_str(), W_OK) == 0);
  try {
    auto index = std::make_unique<Database>(
        path, writable ? Database::Mode::kWrite : Database::Mode::kMemory);
    make_schema(*index);
    return index;
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}; `bench_results store --reindex --store={}` makes a new index",
                                error.what(), folder.string()));
  }
}

/// Adds all runs or none; returns how many were new.
std::size_t insert_runs(const Database& database, std::span<const StoredRun> runs) {
  Transaction transaction(database);
  std::size_t added = 0;
  for (const StoredRun& run : runs) added += insert_run(database, run) ? 1 : 0;
  transaction.commit();
  return added;
}

Cell cell_of_number(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

std::optional<double> number_in(const Cell& cell) {
  const auto* value = std::get_if<double>(&cell);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace

struct Store::Folder {
  fs::path path;
  std::vector<std::string> warnings{};
};

Store::Store(const fs::path& path, Access access, const TellSlow& tell) {
  if (!is_folder(path)) {
    database_ = open_database(path, access);
    return;
  }
  if (access == Access::kWrite) {
    make_folder(path);
    keep_from_git(path);
    remove_half_written(path);
  } else if (!fs::exists(path)) {
    throw DataError(path.string() + ": no such folder");
  }
  folder_ = std::make_unique<Folder>(Folder{.path = path});
  database_ = open_index(path);
  folder_->warnings = refresh_index(path, *database_, tell);
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

bool Store::add(const StoredRun& run) { return add(std::span(&run, 1)) == 1; }

std::size_t Store::add(std::span<const StoredRun> runs) {
  if (folder_ == nullptr) return insert_runs(*database_, runs);
  std::vector<fs::path> written;
  try {
    // The records come first. If the index lacks them, the next program that opens the store
    // repairs it, and one that opened it meanwhile may have done so.
    for (const StoredRun& run : runs) {
      if (write_record(folder_->path, run)) written.push_back(record_path(folder_->path, run));
    }
    insert_runs(*database_, runs);
    return written.size();
  } catch (...) {
    // A refused run is in no part of the store.
    std::error_code ignored;
    for (const fs::path& path : written) fs::remove(path, ignored);
    throw;
  }
}

std::vector<std::vector<Cell>> Store::list(std::span<const std::string> columns,
                                           const Filter& filter, std::int64_t limit) const {
  std::string sql;
  for (const std::string& column : columns) {
    if (!sql.empty()) sql += ", ";
    sql += sql_of_column(column);
  }
  Statement rows = database_->prepare(fmt::format(
      "SELECT {} FROM run WHERE {} ORDER BY t_start DESC, record_id LIMIT ?", sql, filter.where));
  int index = 0;
  for (const Cell& value : filter.values) {
    rows.bind(++index, value);
  }
  rows.bind(++index, limit);
  std::vector<std::vector<Cell>> table;
  while (rows.step()) {
    std::vector<Cell>& row = table.emplace_back();
    for (int column = 0; column < rows.columns(); ++column) {
      row.push_back(rows.cell(column));
    }
  }
  return table;
}

std::vector<StoredRun> Store::summaries(const Filter& filter) const {
  return read_summaries(*database_, filter);
}

std::vector<StoredRun> Store::load(const Filter& filter) const {
  return read_records(*database_, filter);
}

void Store::change(const char* table, const std::function<void()>& rows) {
  // Changes index and file together: a program that opens the folder reads the notes from the file.
  Transaction transaction(*database_);
  rows();
  if (folder_ != nullptr) {
    write_notes(folder_->path, *database_, table);
  }
  transaction.commit();
}

void Store::set_baseline(const Baseline& baseline) {
  change("baseline", [&] {
    database_->prepare("INSERT OR REPLACE INTO baseline VALUES(?, ?, ?, ?, ?)")
        .bind(1, baseline.name)
        .bind(2, baseline.selector)
        .bind(3, compact(json(baseline.run_ids)))
        .bind(4, baseline.created_ms)
        .bind(5, baseline.note)
        .run();
  });
}

std::vector<Baseline> Store::baselines() const {
  std::vector<Baseline> baselines;
  Statement rows = database_->prepare("SELECT * FROM baseline ORDER BY name");
  while (rows.step()) {
    const json ids = json::parse(rows.text(2), nullptr, false);
    const bool are_texts =
        ids.is_array() &&
        std::all_of(ids.begin(), ids.end(), [](const json& id) { return id.is_string(); });
    if (!are_texts) database_->refuse_as_damaged();
    baselines.push_back({.name = rows.text(0),
                         .selector = rows.text(1),
                         .run_ids = ids.get<std::vector<std::string>>(),
                         .created_ms = rows.integer(3),
                         .note = rows.text(4)});
  }
  return baselines;
}

bool Store::remove_baseline(const std::string& name) {
  bool removed = false;
  change("baseline", [&] {
    database_->prepare("DELETE FROM baseline WHERE name = ?").bind(1, name).run();
    removed = database_->changes() > 0;
  });
  return removed;
}

void Store::set_change(const ChangeNote& note) {
  change("changepoint", [&] {
    database_->prepare("INSERT OR REPLACE INTO changepoint VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(1, note.series_key)
        .bind(2, note.at_run)
        .bind(3, cell_of_number(note.p))
        .bind(4, cell_of_number(note.effect))
        .bind(5, cell_of_number(note.lo))
        .bind(6, cell_of_number(note.hi))
        .bind(7, note.state)
        .bind(8, note.note)
        .bind(9, note.by)
        .run();
  });
}

void Store::remove_change(const std::string& series_key, const std::string& at_run) {
  change("changepoint", [&] {
    database_->prepare("DELETE FROM changepoint WHERE series_key = ? AND at_run = ?")
        .bind(1, series_key)
        .bind(2, at_run)
        .run();
  });
}

std::vector<ChangeNote> Store::changes() const {
  std::vector<ChangeNote> notes;
  Statement rows = database_->prepare("SELECT * FROM changepoint ORDER BY series_key, at_run");
  while (rows.step()) {
    notes.push_back({.series_key = rows.text(0),
                     .at_run = rows.text(1),
                     .p = number_in(rows.cell(2)),
                     .effect = number_in(rows.cell(3)),
                     .lo = number_in(rows.cell(4)),
                     .hi = number_in(rows.cell(5)),
                     .state = rows.text(6),
                     .note = rows.text(7),
                     .by = rows.text(8)});
  }
  return notes;
}

void Store::annotate(const Annotation& annotation) {
  change("annotation", [&] {
    database_->prepare("INSERT OR REPLACE INTO annotation VALUES(?, ?, ?)")
        .bind(1, annotation.series_key)
        .bind(2, annotation.run)
        .bind(3, annotation.text)
        .run();
  });
}

std::vector<Annotation> Store::annotations() const {
  std::vector<Annotation> annotations;
  Statement rows = database_->prepare("SELECT * FROM annotation ORDER BY series_key, run, text");
  while (rows.step()) {
    annotations.push_back({.series_key = rows.text(0), .run = rows.text(1), .text = rows.text(2)});
  }
  return annotations;
}

const std::vector<std::string>& Store::warnings() const {
  static const std::vector<std::string> kNone;
  return folder_ == nullptr ? kNone : folder_->warnings;
}

std::int64_t Store::size() const {
  return database_->integer_of("SELECT count(*) FROM run").value_or(0);
}

Filter filter_of_ids(std::span<const std::string> record_ids) {
  // One list of whole ids: SQLite refuses an expression of thousands of parts as too deep.
  json whole = json::array();
  for (const std::string& id : record_ids) {
    if (id.size() >= kIdDigits) whole.push_back(id);
  }
  Filter filter{.where = "record_id IN (SELECT value FROM json_each(?))",
                .values = {compact(whole)}};
  for (const std::string& id : record_ids) {
    if (id.size() >= kIdDigits) continue;
    filter.where += " OR substr(record_id, 1, ?) = ?";
    filter.values.emplace_back(static_cast<std::int64_t>(id.size()));
    filter.values.emplace_back(id);
  }
  filter.where = fmt::format("({})", filter.where);
  return filter;
}

bool is_store_file(const fs::path& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::string head(kMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return file && head == kMagic;
}

std::int64_t reindex(const fs::path& path, const TellSlow& tell) {
  if (!fs::is_directory(path)) {
    throw UsageError(fmt::format(
        "{}: not a folder of records; only a folder's database can be rebuilt from its files",
        path.string()));
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::remove(index_path(path).string() + suffix);
  }
  return Store(path, Store::Access::kWrite, tell).size();
}

void check_can_store(const fs::path& path) {
  const bool folder = is_folder(path);
  if (const auto reason = why_no_folder(folder ? path : path.parent_path())) {
    throw WriteError(fmt::format("{}: cannot create a store there: {}", path.string(), *reason));
  }
  std::error_code error;
  if (folder) {
    if (fs::exists(index_path(path), error)) const Store store(path, Store::Access::kRead);
    return;
  }
  check_is_file(path);
  if (!fs::exists(path, error)) return;
  if (::access(path.c_str(), W_OK) != 0) {
    throw WriteError(path.string() + ": cannot write the store: no permission");
  }
  if (fs::file_size(path) > 0) {
    const Database database(path, Database::Mode::kRead);
    check_schema(database);
  }
}

fs::path default_store_path() {
  if (const char* given = std::getenv("BENCH_STORE"); given != nullptr && *given != '\0') {
    return given;
  }
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0') {
    return fs::path(data) / "bench" / "results.sqlite";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw UsageError(
        "no store was given, and neither $BENCH_STORE nor $HOME is set; give one with "
        "--store=PATH");
  }
  return fs::path(home) / ".local/share/bench/results.sqlite";
}

}  // namespace bench::results

#include "results/store/sqlite.h"

#include <regex.h>
#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "models/base/errors.h"

namespace bench::results {
namespace {

constexpr int kBusyMilliseconds = 30'000;

[[noreturn]] void fail_as_damaged(const std::string& name) {
  throw DataError(fmt::format(
      "{0}: the database is damaged; `sqlite3 {0} .recover` prints what can be recovered", name));
}

/// True if a table, a column or its JSON is not what this program wrote.
bool is_damage(std::string_view message) {
  return message.starts_with("no such ") || message == "malformed JSON";
}

[[noreturn]] void fail_with(int code, sqlite3* database, const std::string& name) {
  const int system_error = database == nullptr ? 0 : sqlite3_system_errno(database);
  const char* why = system_error == 0 ? sqlite3_errstr(code) : std::strerror(system_error);
  switch (code & 0xff) {
    case SQLITE_FULL:
      throw WriteError(fmt::format(
          "{}: the disk is full; the new data was not stored, earlier data is intact", name));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw WriteError(name + ": cannot write the database: no permission");
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_WRITE) {
        // By the time SQLite has rolled back, the system's own reason is lost.
        throw WriteError(fmt::format(
            "{}: a write failed: the file is at its size limit (ulimit -f), or the disk is full or "
            "broken; the new data was not stored, earlier data is intact",
            name));
      }
      throw WriteError(fmt::format("{}: cannot read or write the database: {}", name, why));
    case SQLITE_CANTOPEN:
      throw WriteError(fmt::format("{}: cannot open the database: {}", name, why));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw DataError(fmt::format(
          "{}: another program has been writing for {} s; try again when it has finished", name,
          kBusyMilliseconds / 1000));
    case SQLITE_NOTADB:
      throw DataError(name +
                      ": not a database of bench_results: the file is not an SQLite database");
    case SQLITE_CORRUPT:
      fail_as_damaged(name);
    default:
      break;
  }
  const std::string message = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  if (is_damage(message)) {
    fail_as_damaged(name);
  }
  throw InternalError(fmt::format("{}: {}", name, message));
}

void free_pattern(void* pattern) {
  ::regfree(static_cast<regex_t*>(pattern));
  delete static_cast<regex_t*>(pattern);
}

/// matches(pattern, text): true if the extended regular expression matches in the text. The pattern
/// is compiled once per statement; the caller has checked that it compiles.
void matches(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[1]));
  if (text == nullptr) {
    return sqlite3_result_int(context, 0);
  }
  auto* pattern = static_cast<regex_t*>(sqlite3_get_auxdata(context, 0));
  if (pattern == nullptr) {
    auto compiled = std::make_unique<regex_t>();
    const auto* source = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
    if (source == nullptr || ::regcomp(compiled.get(), source, REG_EXTENDED | REG_NOSUB) != 0) {
      return sqlite3_result_error(context, "the pattern is not a regular expression", -1);
    }
    sqlite3_set_auxdata(context, 0, compiled.release(), free_pattern);
    pattern = static_cast<regex_t*>(sqlite3_get_auxdata(context, 0));
  }
  sqlite3_result_int(context, ::regexec(pattern, text, 0, nullptr, 0) == 0 ? 1 : 0);
}

/// A path as part of SQLite's file: name.
std::string uri_of(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char letter : path.string()) {
    uri += letter == '%' || letter == '?' || letter == '#'
               ? fmt::format("%{:02x}", static_cast<unsigned>(letter))
               : std::string(1, letter);
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(sqlite3* database, const std::string& name, std::string_view sql)
    : database_(database), name_(&name) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) {
    fail_with(code, database, name);
  }
}

Statement& Statement::bind(int index, const Cell& value) {
  sqlite3_stmt* statement = statement_.get();
  int code = SQLITE_OK;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    code = sqlite3_bind_int64(statement, index, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    code = sqlite3_bind_double(statement, index, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    code = sqlite3_bind_text(statement, index, text->data(), static_cast<int>(text->size()),
                             SQLITE_TRANSIENT);  // NOLINT: SQLite's own cast.
  } else {
    code = sqlite3_bind_null(statement, index);
  }
  if (code != SQLITE_OK) {
    fail_with(code, database_, *name_);
  }
  return *this;
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
  const int code = sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(),
                                       SQLITE_TRANSIENT);  // NOLINT: SQLite's own cast.
  if (code != SQLITE_OK) {
    fail_with(code, database_, *name_);
  }
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    fail_with(code, database_, *name_);
  }
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_.get());
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

Cell Statement::cell(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_.get(), column);
    case SQLITE_NULL:
      return {};
    default:
      return text(column);
  }
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Database::Database(const std::filesystem::path& path, Mode mode)
    : name_(std::make_unique<std::string>(path.string())) {
  // SQLITE_OPEN_READWRITE opens a file without write permission for reading.
  const int flags = mode == Mode::kRead           ? SQLITE_OPEN_READWRITE
                    : mode == Mode::kReadUnlocked ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                                  : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* database = nullptr;
  const std::string file = mode == Mode::kMemory         ? ":memory:"
                           : mode == Mode::kReadUnlocked ? uri_of(path)
                                                         : path.string();
  const int code = sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) {
    fail_with(code, database, *name_);
  }
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  sqlite3_create_function(database, "matches", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                          matches, nullptr, nullptr);
  if (mode == Mode::kRead) {
    run("PRAGMA query_only = 1");
  }
}

Statement Database::prepare(std::string_view sql) const { return {database_.get(), *name_, sql}; }

void Database::run(const std::string& sql) const {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    fail_with(code, database_.get(), *name_);
  }
}

void Database::refuse_as_damaged() const { fail_as_damaged(*name_); }

int Database::changes() const { return sqlite3_changes(database_.get()); }

std::optional<std::int64_t> Database::integer_of(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? std::optional(statement.integer(0)) : std::nullopt;
}

Transaction::Transaction(const Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) {
    return;
  }
  try {
    database_.run("ROLLBACK");
  } catch (const std::exception&) {
    // After a full disk, SQLite has already rolled back.
    open_ = false;
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace bench::results

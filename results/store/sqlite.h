#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace bench::results {

/// A value of a column; empty if it is not known.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A prepared statement. Its errors throw as Database's do.
class Statement {
 public:
  Statement(sqlite3* database, const std::string& name, std::string_view sql);

  /// Parameters count from 1. Returns itself, so that calls can be chained.
  Statement& bind(int index, const Cell& value);
  Statement& bind_blob(int index, std::string_view bytes);

  /// Returns true if there is a row. Waits while another program writes, up to the database's time
  /// limit.
  bool step();
  /// Runs to the end, and resets for other parameters.
  void run();

  [[nodiscard]] int columns() const;
  [[nodiscard]] Cell cell(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  const std::string* name_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// An open database. Throws DataError if it does not exist, is damaged, or is in use for too long.
/// Throws WriteError if the disk is full or permission is missing. The message is one sentence that
/// begins with the database's name.
class Database {
 public:
  enum class Mode : std::uint8_t { kRead, kReadUnlocked, kWrite, kMemory };
  /// Mode kWrite creates the file if it does not exist. Mode kRead also completes or undoes what a
  /// killed program left half written. Mode kReadUnlocked creates no files next to the database.
  /// Use it only if no program writes it.
  Database(const std::filesystem::path& path, Mode mode);

  [[nodiscard]] Statement prepare(std::string_view sql) const;
  void run(const std::string& sql) const;
  /// Rows that the last statement changed.
  [[nodiscard]] int changes() const;
  /// The first column of the first row; empty without rows.
  [[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view sql) const;
  [[nodiscard]] const std::string& name() const { return *name_; }
  /// Throws DataError: a value is not what this program writes.
  [[noreturn]] void refuse_as_damaged() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  /// On the heap, so that statements find it after a move.
  std::unique_ptr<std::string> name_;
  std::unique_ptr<sqlite3, Close> database_;
};

/// All or nothing: rolls back unless committed. Others may read meanwhile, but not write.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
  bool open_ = true;
};

}  // namespace bench::results

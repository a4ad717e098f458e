#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "results/record/record.h"

namespace bench::results {

/// Writes records to one path.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  /// Replaces the file with `record`, as a whole or not at all. Appends to the path if it is a
  /// stream. Throws WriteError.
  virtual void write(const Record& record) = 0;
  /// True if another write() replaces the last one; false for a stream.
  [[nodiscard]] virtual bool replaces() const = 0;
};

/// One form in which a record can be written.
struct WriterRow {
  std::string_view name;
  /// Makes a writer to `path`. Throws UsageError, naming the path, if it cannot be written; so make
  /// it before the run.
  std::unique_ptr<RecordWriter> (*make)(const std::filesystem::path& path);
};

/// All forms; a new one is a file in results/writers and a row in writer.cc.
std::span<const WriterRow> writer_rows();

/// The writer of form `name` to `path`. Throws UsageError for an unknown form, naming the known
/// ones, and for a path that cannot be written.
std::unique_ptr<RecordWriter> make_writer(std::string_view name, const std::filesystem::path& path);

}  // namespace bench::results

#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "results/formats/format.h"

namespace bench::results {

/// A record's mode for tf_cnn_benchmarks' name of it; another name stays.
std::string mode_of_tf(std::string_view name);

/// A record converted from another tool's file. It has every member of the schema. Members that are
/// not set are null, and `capture_errors` says that the file lacks them. `imported` names the
/// format and the file.
class ImportedRecord {
 public:
  ImportedRecord(const ForeignFile& source, std::string_view format);

  /// Sets the member at a path such as "workload.model". A null, an empty text or a number of 0
  /// leaves it unknown.
  void set(std::string_view path, const nlohmann::json& value);
  /// Adds a tag. Its name may have dots.
  void tag(const std::string& name, const std::string& value);
  /// Adds a metric. If `name` is one of ours, it gets our unit and direction.
  void metric(const std::string& name, double value, const std::string& unit = "",
              Better better = Better::kNone);
  /// The start of the run, in milliseconds since 1970, UTC. Without it, the file's own time is
  /// used.
  void starts(std::optional<std::int64_t> ms) { start_ = ms; }
  void ends(std::int64_t ms) { end_ = ms; }
  void failed(const std::string& why);

  /// The record with its record_id.
  nlohmann::json finish() &&;

 private:
  std::filesystem::path path_;
  std::string format_;
  nlohmann::json record_;
  std::optional<std::int64_t> start_{};
  std::optional<std::int64_t> end_{};
};

}  // namespace bench::results

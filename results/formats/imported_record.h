#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "results/formats/format.h"

namespace bench::results {

/// A record made of another tool's file: has every member of the schema; those that are not set are
/// null, and `capture_errors` says that the file does not tell them. `imported` names the format
/// and the file.
class ImportedRecord {
 public:
  ImportedRecord(const ForeignFile& source, std::string_view format);

  /// Sets the member at a path such as "workload.model". A null, an empty text or a number of 0
  /// leaves it unknown.
  void set(std::string_view path, const nlohmann::json& value);
  /// Adds a metric; where `name` is one of ours its unit and direction are ours.
  void metric(const std::string& name, double value, const std::string& unit = "",
              Better better = Better::kNone);
  /// When the run began, milliseconds since 1970, UTC. Without it that is the file's own time.
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

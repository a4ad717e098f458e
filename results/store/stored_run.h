#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "results/record.h"

namespace bench::results {

/// One number of a stored run.
struct StoredMetric {
  double value = 0;
  std::string unit{};
  Better better = Better::kNone;
  Kind kind = Kind::kNoisy;
};

/// One run (one process) as those who compare, report and track see it, whether its record is ours
/// or came from another tool's file. Names in text are for readers; keys tell what may be compared.
// The destructor of its JSON may allocate.
struct StoredRun {  // NOLINT(bugprone-exception-escape)
  std::string record_id{};
  std::string group_id{};     ///< Of the repeats that belong together; its own id when alone.
  std::int64_t start_ms = 0;  ///< UTC, milliseconds since 1970.
  std::string label{};
  std::string reason{};  ///< nightly, pr, procurement or adhoc.
  std::string status{};  ///< ok, failed or aborted.
  std::map<std::string, std::string> tags{};
  std::string workload_key{};     ///< Equal for runs of the same work.
  std::string workload{};         ///< Such as "resnet50 train bs64 f32".
  std::string machine_key{};      ///< Equal for runs on the same hardware.
  std::string machine{};          ///< Such as "host a, EPYC 9654, 2 threads".
  std::string environment_key{};  ///< Equal for the same hardware, software and settings.
  std::string git_rev{};          ///< Empty when unknown.
  std::optional<bool> dirty{};
  std::map<std::string, StoredMetric> metrics{};
  nlohmann::json record{};  ///< The whole record.
};

/// The first 16 hexadecimal digits of a SHA-256 over all of `record` but its record_id: what
/// record_id must be. Whoever makes a record of another tool's file puts it in.
std::string content_id(const nlohmann::json& record);

/// The run of `record`. Throws DataError with one sentence that begins with `origin` (a path, or
/// what else readers know it by) where it is no record, one of a newer schema, incomplete, or
/// changed since it was written: its record_id is then not its content's.
StoredRun stored_run(nlohmann::json record, const std::string& origin = "record");

/// The same for a file's text; DataError too where it is no JSON, or ends early.
StoredRun parse_run(std::string_view text, const std::string& origin);

}  // namespace bench::results

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "results/record/record.h"

namespace bench::results {

/// One number of a stored run.
struct StoredMetric {
  double value = 0;
  std::string unit{};
  Better better = Better::kNone;
  Kind kind = Kind::kNoisy;
};

/// One run (one process) as the commands see it, from a record of bench or another tool's file.
/// Names are for readers; keys decide what may be compared.
// The destructor of its JSON may allocate.
struct StoredRun {  // NOLINT(bugprone-exception-escape)
  std::string record_id{};
  std::string group_id{};     ///< Shared by repeats that belong together; its own id when alone.
  std::int64_t start_ms = 0;  ///< UTC, milliseconds since 1970.
  std::string label{};
  std::string reason{};  ///< nightly, pr, procurement or adhoc.
  std::string status{};  ///< ok, failed or aborted.
  std::map<std::string, std::string> tags{};
  std::string workload_key{};     ///< Equal for runs of the same workload.
  std::string workload{};         ///< For example "resnet50 train bs64 f32".
  std::string machine_key{};      ///< Equal for runs on the same hardware.
  std::string machine{};          ///< For example "host a, EPYC 9654, 2 threads".
  std::string environment_key{};  ///< Equal for the same hardware, software and settings.
  std::string git_rev{};          ///< Empty when unknown.
  std::optional<bool> dirty{};
  std::map<std::string, StoredMetric> metrics{};
  nlohmann::json record{};  ///< The whole record.
};

/// The metrics of a run's speed, of which a run has one.
inline constexpr std::array<const char*, 3> kSpeedMetrics{"images_per_sec", "tokens_per_sec",
                                                          "examples_per_sec"};
/// The one that the run has; the first if it has none.
std::string speed_metric(const StoredRun& run);
/// What the run's speed counts: images, tokens or examples.
std::string speed_unit(const StoredRun& run);

/// The record_id that `record` must have: the first 16 hexadecimal digits of a SHA-256 over the
/// rest of it. Code that converts another tool's file sets record_id with it.
std::string content_id(const nlohmann::json& record);

/// The run of `record`. Throws DataError if it is incomplete, is not a record, or has a newer
/// schema. Also throws if it was changed since it was written, so that its record_id does not match
/// its content. The message is one sentence that begins with `origin`, a path or another name that
/// readers know.
StoredRun stored_run(nlohmann::json record, const std::string& origin = "record");

/// The same for a file's text. Also throws DataError if it is truncated or is not JSON.
StoredRun parse_run(std::string_view text, const std::string& origin);

}  // namespace bench::results

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/stored_run.h"

/// Access to runs for exporters and the report: members by path, and values computed from them.
namespace bench::results {

/// The member at a path of names joined by dots; null if it does not exist or is null.
const nlohmann::json* field(const nlohmann::json& record, std::string_view path);

/// The text there, or `otherwise`.
std::string text_field(const nlohmann::json& record, std::string_view path,
                       std::string_view otherwise = "");

/// The number there.
std::optional<double> number_field(const nlohmann::json& record, std::string_view path);
std::optional<std::int64_t> integer_field(const nlohmann::json& record, std::string_view path);

/// The metric's value.
std::optional<double> metric_value(const StoredRun& run, const std::string& name);

/// The run's images, tokens or examples per second, whichever it has.
std::optional<double> speed_of(const StoredRun& run);

/// The name of the run's energy metric, such as joules_per_image.
std::string energy_metric(const StoredRun& run);

/// The images, tokens or examples of a step, over all devices.
std::optional<double> units_per_step(const StoredRun& run);

/// The time of every timed step, in seconds.
std::vector<double> step_seconds(const nlohmann::json& record);

/// The end of each timed step, in seconds since 1970, as if the last step had ended with the run. A
/// record holds the end of the run, not the ends of its steps.
std::vector<double> step_ends(const StoredRun& run);

/// The end of the run in milliseconds since 1970; its beginning if the end is not known.
std::int64_t end_ms(const StoredRun& run);

/// `ms` since 1970 in UTC by strftime's `format`, such as "%Y-%m-%dT%H:%M:%S".
std::string utc_by(std::int64_t ms, const char* format);

/// `text` without a leading `prefix`.
std::string without_prefix(std::string_view text, std::string_view prefix);

/// For example "resnet50_train_bs64_f32": the workload's text as one word of letters, digits, `_`,
/// `-` and `.`.
std::string word_of(std::string_view text);

}  // namespace bench::results

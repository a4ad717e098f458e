#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/stored_run.h"

/// What exporters and the report ask of a run: members by path, and what is computed of them.
namespace bench::results {

/// The member at a path of names joined by dots; null where there is none, or a null.
const nlohmann::json* field(const nlohmann::json& record, std::string_view path);

/// The text there; `otherwise` where there is none.
std::string text_field(const nlohmann::json& record, std::string_view path,
                       std::string_view otherwise = "");

/// The number there.
std::optional<double> number_field(const nlohmann::json& record, std::string_view path);
std::optional<std::int64_t> integer_field(const nlohmann::json& record, std::string_view path);

/// The metric's value.
std::optional<double> metric_value(const StoredRun& run, const std::string& name);

/// The time of every timed step, in seconds.
std::vector<double> step_seconds(const nlohmann::json& record);

/// When each timed step ended, in seconds since 1970, as if the last one had ended with the run; a
/// record tells when the run ended, and not when its steps did.
std::vector<double> step_ends(const StoredRun& run);

/// Milliseconds since 1970 at the end of the run; its beginning where the end is not known.
std::int64_t end_ms(const StoredRun& run);

/// `ms` since 1970 in UTC by strftime's `format`, such as "%Y-%m-%dT%H:%M:%S".
std::string utc_by(std::int64_t ms, const char* format);

/// The rest of a text that begins with `prefix`; the text where it does not.
std::string without_prefix(std::string_view text, std::string_view prefix);

/// Such as "resnet50_train_bs64_f32": the workload's text as one word of letters, digits, `_`, `-`
/// and `.`.
std::string word_of(std::string_view text);

}  // namespace bench::results

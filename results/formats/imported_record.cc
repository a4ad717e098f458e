#include "results/formats/imported_record.h"

#include <array>
#include <system_error>
#include <utility>

#include "models/base/errors.h"
#include "results/record/identity.h"
#include "results/record/record_json.h"
#include "results/record/record_table.h"

namespace bench::results {
namespace {

using nlohmann::json;

struct KnownMetric {
  std::string_view name;
  std::string_view unit;
  Better better;
};

/// Units and directions for metrics of other tools whose file may omit them. In these files a short
/// wall time is good; bench prefers none, since it chooses the number of steps.
constexpr std::array kKnownMetrics = {
    KnownMetric{"images_per_joule", "images/J", Better::kHigher},
    KnownMetric{"wall_time", "s", Better::kLower},
    KnownMetric{"execution_time", "s", Better::kLower},
    KnownMetric{"compile_time", "s", Better::kLower},
    KnownMetric{"score", "1", Better::kHigher},
    KnownMetric{"real_time", "s", Better::kLower},
    KnownMetric{"cpu_time", "s", Better::kLower},
    KnownMetric{"items_per_second", "items/s", Better::kHigher},
    KnownMetric{"bytes_per_second", "bytes/s", Better::kHigher},
    KnownMetric{"eval_top_1_accuracy", "1", Better::kHigher},
    KnownMetric{"eval_top_5_accuracy", "1", Better::kHigher},
};

/// The row of a metric above, else of one of ours.
std::optional<KnownMetric> known_metric(std::string_view name) {
  for (const KnownMetric& known : kKnownMetrics) {
    if (name == known.name) {
      return known;
    }
  }
  const MetricRow* const row = find_metric_row(name);
  if (row == nullptr) {
    return std::nullopt;
  }
  return KnownMetric{row->name, row->unit, row->better};
}

const char* word_for(Better better) {
  if (better == Better::kHigher) return "higher";
  return better == Better::kLower ? "lower" : "none";
}

bool says_nothing(const json& value) {
  return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         (value.is_number() && value.get<double>() == 0);
}

std::string reason(std::string_view format) {
  return fmt::format("not in the imported {} file", format);
}

/// Nulls empty members in `object`, with the reason under their path.
void clear_defaults(json& object, const std::string& path, json& errors, const std::string& why) {
  for (auto& [name, value] : object.items()) {
    const std::string inner = path.empty() ? name : fmt::format("{}.{}", path, name);
    if (value.is_object()) {
      clear_defaults(value, inner, errors, why);
    } else if (says_nothing(value)) {
      value = nullptr;
      errors[inner] = why;
    }
  }
}

json& member_at(json& record, std::string_view path) {
  json* value = &record;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    value = &(*value)[std::string(path.substr(0, dot))];
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return *value;
}

std::chrono::system_clock::time_point time_of(std::int64_t ms) {
  return std::chrono::system_clock::time_point(std::chrono::milliseconds(ms));
}

/// The file's modification time. In C++20, the file clock has another epoch.
std::int64_t file_time_ms(const std::filesystem::path& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error) return 0;
  const auto time = std::chrono::file_clock::to_sys(written).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

std::string mode_of_tf(std::string_view name) {
  if (name == "training" || name == "training + evaluation") return "train";
  // Older versions print a hyphen.
  if (name == "forward only" || name == "forward-only") return "fwd";
  return name == "evaluation" ? "eval" : std::string(name);
}

ImportedRecord::ImportedRecord(const ForeignFile& source, std::string_view format)
    : path_(source.path), format_(format), record_(json::parse(record_json(Record{}))) {
  const std::string why = reason(format);
  json& errors = record_["capture_errors"];
  for (auto& [path, text] : errors.items()) text = why;
  for (const char* section :
       {"workload", "batch_choice", "dataset", "source", "build", "choices", "verification"}) {
    clear_defaults(record_[section], section, errors, why);
  }
  record_["run_uuid"] = nullptr;
  errors["run_uuid"] = why;
  record_["status"] = "ok";
  record_["imported"] = {{"format", format}, {"file", source.path.filename().string()}};
}

void ImportedRecord::set(std::string_view path, const json& value) {
  if (says_nothing(value)) return;
  member_at(record_, path) = value;
  record_["capture_errors"].erase(std::string(path));
}

void ImportedRecord::tag(const std::string& name, const std::string& value) {
  if (!value.empty()) record_["tags"][name] = value;
}

void ImportedRecord::metric(const std::string& name, double value, const std::string& unit,
                            Better better) {
  const std::optional<KnownMetric> known = known_metric(name);
  record_["metrics"].push_back({{"name", name},
                                {"value", value},
                                {"unit", known && unit.empty() ? known->unit : unit},
                                {"better", word_for(known ? known->better : better)},
                                {"kind", "noisy"},
                                {"scope", "run"}});
}

void ImportedRecord::failed(const std::string& why) {
  record_["status"] = "failed";
  record_["status_reason"] = why;
}

json ImportedRecord::finish() && {
  record_["imported"]["time_from"] = start_ ? "the file" : "the file's modification time";
  const std::int64_t start = start_ ? *start_ : file_time_ms(path_);
  record_["time"]["start_utc"] = utc_text(time_of(start));
  record_["time"]["end_utc"] = nullptr;
  record_["time"]["monotonic_ns"] = nullptr;
  json& errors = record_["capture_errors"];
  errors["time.monotonic_ns"] = reason(format_);
  if (end_) {
    record_["time"]["end_utc"] = utc_text(time_of(*end_));
  } else {
    errors["time.end_utc"] = reason(format_);
  }
  record_["record_id"] = content_id(record_);
  return std::move(record_);
}

}  // namespace bench::results

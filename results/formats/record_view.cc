#include "results/formats/record_view.h"

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

#include "results/formats/utc_time.h"

namespace bench::results {

const nlohmann::json* field(const nlohmann::json& record, std::string_view path) {
  const nlohmann::json* value = &record;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    if (!value->is_object()) return nullptr;
    const auto found = value->find(std::string(path.substr(0, dot)));
    if (found == value->end()) return nullptr;
    value = &*found;
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return value->is_null() ? nullptr : value;
}

std::string text_field(const nlohmann::json& record, std::string_view path,
                       std::string_view otherwise) {
  const nlohmann::json* value = field(record, path);
  if (value == nullptr || !value->is_string()) return std::string(otherwise);
  return value->get<std::string>();
}

std::optional<double> number_field(const nlohmann::json& record, std::string_view path) {
  const nlohmann::json* value = field(record, path);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::optional<std::int64_t> integer_field(const nlohmann::json& record, std::string_view path) {
  const nlohmann::json* value = field(record, path);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::optional<double> metric_value(const StoredRun& run, const std::string& name) {
  const auto found = run.metrics.find(name);
  if (found == run.metrics.end()) return std::nullopt;
  return found->second.value;
}

std::optional<double> speed_of(const StoredRun& run) {
  return metric_value(run, speed_metric(run));
}

std::string energy_metric(const StoredRun& run) {
  const std::string unit = speed_unit(run);
  return "joules_per_" + unit.substr(0, unit.size() - 1);
}

std::optional<double> units_per_step(const StoredRun& run) {
  // The batch counts sequences, not tokens.
  if (speed_unit(run) != "tokens") return number_field(run.record, "workload.global_batch");
  const auto speed = metric_value(run, "tokens_per_sec_steps");
  const auto step = metric_value(run, "step_time.mean");
  if (!speed || !step) return std::nullopt;
  return std::round(*speed * *step);
}

std::vector<double> step_seconds(const nlohmann::json& record) {
  std::vector<double> seconds;
  const nlohmann::json* steps = field(record, "series.step_ns");
  if (steps == nullptr || !steps->is_array()) return seconds;
  for (const nlohmann::json& step : *steps) {
    if (step.is_number()) seconds.push_back(step.get<double>() / 1e9);
  }
  return seconds;
}

std::int64_t end_ms(const StoredRun& run) {
  const auto end = utc_ms(text_field(run.record, "time.end_utc"));
  return end ? *end : run.start_ms;
}

std::vector<double> step_ends(const StoredRun& run) {
  std::vector<double> ends = step_seconds(run.record);
  double left = 0;
  for (const double seconds : ends) left += seconds;
  const double end = static_cast<double>(end_ms(run)) / 1e3;
  for (double& step : ends) {
    left -= step;
    step = end - left;
  }
  return ends;
}

std::string utc_by(std::int64_t ms, const char* format) {
  const auto seconds = static_cast<std::time_t>(std::floor(static_cast<double>(ms) / 1e3));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 80> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

std::string without_prefix(std::string_view text, std::string_view prefix) {
  return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

std::string word_of(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_';
    word += plain ? c : '_';
  }
  return word;
}

}  // namespace bench::results

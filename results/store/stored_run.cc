#include "results/store/stored_run.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "models/base/errors.h"
#include "results/record/identity.h"
#include "results/store/record_fields.h"

namespace bench::results {
namespace {

using nlohmann::json;

constexpr std::string_view kSchemaFamily = "bench.record/";

/// Reads members of a record; throws DataError, naming the member, on a wrong type. Null and absent
/// both mean not known.
class Reader {
 public:
  Reader(const json& record, const std::string& origin) : record_(record), origin_(origin) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw DataError(fmt::format("{}: {}", origin_, why));
  }

  const json* find(const json& object, const char* name) const {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  const json& object(const char* name) const {
    const json* found = find(record_, name);
    if (found == nullptr || !found->is_object()) {
      fail(fmt::format("incomplete record: the object '{}' is missing", name));
    }
    return *found;
  }

  std::string text(const json& object, const char* name) const {
    const json* found = find(object, name);
    if (found == nullptr) {
      return "";
    }
    if (!found->is_string()) {
      fail(fmt::format("'{}' is not a string", name));
    }
    return found->get<std::string>();
  }

  std::string needed_text(const json& object, const char* name) const {
    std::string found = text(object, name);
    if (found.empty()) {
      fail(fmt::format("incomplete record: '{}' is missing", name));
    }
    return found;
  }

 private:
  const json& record_;
  const std::string& origin_;
};

void check_schema(const Reader& reader, const json& record) {
  if (!record.is_object()) {
    reader.fail("not a record of bench: the file is not a JSON object");
  }
  const json* schema = reader.find(record, "schema");
  if (schema == nullptr || !schema->is_string()) {
    reader.fail("not a record of bench: 'schema' is missing");
  }
  const auto name = schema->get<std::string>();
  if (name == kSchema) {
    return;
  }
  if (name.starts_with(kSchemaFamily)) {
    reader.fail(
        fmt::format("schema {} is not supported: this program reads {}; use the bench_results of "
                    "the bench that wrote it",
                    name, kSchema));
  }
  reader.fail(fmt::format("not a record of bench: the schema is '{}'", name));
}

void check_content(const Reader& reader, const json& record, const std::string& record_id) {
  const std::string content = content_id(record);
  if (record_id != content) {
    reader.fail(
        fmt::format("the record was changed after it was written: its record_id is {}, but its "
                    "content has id {}",
                    record_id, content));
  }
}

int digits_at(const Reader& reader, const std::string& text, std::size_t from, std::size_t count) {
  int value = 0;
  const char* begin = text.data() + from;
  const auto [end, error] = std::from_chars(begin, begin + count, value);
  if (error != std::errc() || end != begin + count) {
    reader.fail(
        fmt::format("'start_utc' is not a time such as 2026-01-31T23:59:59.123Z: {}", text));
  }
  return value;
}

/// Parses the format of utc_text(); the milliseconds may be missing.
std::int64_t start_of(const Reader& reader) {
  using namespace std::chrono;
  const std::string text = reader.needed_text(reader.object("time"), "start_utc");
  constexpr std::size_t kSeconds = 19;  // "2026-01-31T23:59:59"
  constexpr std::size_t kMilliseconds = 24;
  if ((text.size() != kSeconds + 1 && text.size() != kMilliseconds) || text.back() != 'Z') {
    reader.fail(
        fmt::format("'start_utc' is not a time such as 2026-01-31T23:59:59.123Z: {}", text));
  }
  const year_month_day date(year(digits_at(reader, text, 0, 4)),
                            month(static_cast<unsigned>(digits_at(reader, text, 5, 2))),
                            day(static_cast<unsigned>(digits_at(reader, text, 8, 2))));
  if (!date.ok()) {
    reader.fail(fmt::format("'start_utc' is not a date of the calendar: {}", text));
  }
  const auto time = sys_days(date) + hours(digits_at(reader, text, 11, 2)) +
                    minutes(digits_at(reader, text, 14, 2)) +
                    seconds(digits_at(reader, text, 17, 2)) +
                    milliseconds(text.size() == kMilliseconds ? digits_at(reader, text, 20, 3) : 0);
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

Better better_of(const Reader& reader, const std::string& text) {
  if (text == "higher") return Better::kHigher;
  if (text == "lower") return Better::kLower;
  if (text == "none" || text.empty()) return Better::kNone;
  reader.fail(fmt::format("a metric's 'better' is '{}', not higher, lower or none", text));
}

std::map<std::string, StoredMetric> metrics_of(const Reader& reader, const json& record) {
  std::map<std::string, StoredMetric> metrics;
  const json* list = reader.find(record, "metrics");
  if (list == nullptr || !list->is_array()) {
    reader.fail("incomplete record: the list 'metrics' is missing");
  }
  for (const json& metric : *list) {
    if (!metric.is_object()) {
      reader.fail("a metric is not an object");
    }
    const json* value = reader.find(metric, "value");
    if (value == nullptr) {
      continue;
    }
    if (!value->is_number()) {
      reader.fail("a metric's 'value' is not a number");
    }
    metrics[reader.needed_text(metric, "name")] = {
        .value = value->get<double>(),
        .unit = reader.text(metric, "unit"),
        .better = better_of(reader, reader.text(metric, "better")),
        .kind = reader.text(metric, "kind") == "exact" ? Kind::kExact : Kind::kNoisy};
  }
  return metrics;
}

std::map<std::string, std::string> tags_of(const Reader& reader, const json& record) {
  std::map<std::string, std::string> tags;
  const json* object = reader.find(record, "tags");
  if (object == nullptr) {
    return tags;
  }
  if (!object->is_object()) {
    reader.fail("'tags' is not an object");
  }
  for (const auto& [name, value] : object->items()) {
    if (!value.is_string()) {
      reader.fail(fmt::format("the tag '{}' is not a string", name));
    }
    tags[name] = value.get<std::string>();
  }
  return tags;
}

/// The reports read these as texts.
void check_capture_errors(const Reader& reader, const json& record) {
  const json* errors = reader.find(record, "capture_errors");
  if (errors == nullptr) {
    return;
  }
  if (!errors->is_object()) {
    reader.fail("'capture_errors' is not an object");
  }
  for (const auto& [path, why] : errors->items()) {
    if (!why.is_string()) {
      reader.fail(fmt::format("the reason for '{}' in 'capture_errors' is not a string", path));
    }
  }
}

std::optional<bool> dirty_of(const Reader& reader, const json& source) {
  const json* dirty = reader.find(source, "dirty");
  return dirty != nullptr && dirty->is_boolean() ? std::optional<bool>(dirty->get<bool>())
                                                 : std::nullopt;
}

}  // namespace

std::string speed_metric(const StoredRun& run) {
  const auto found = std::ranges::find_if(
      kSpeedMetrics, [&](const char* name) { return run.metrics.contains(name); });
  return found == kSpeedMetrics.end() ? kSpeedMetrics.front() : *found;
}

std::string speed_unit(const StoredRun& run) {
  const std::string metric = speed_metric(run);
  return metric.substr(0, metric.find('_'));
}

std::string content_id(const json& record) {
  json canonical = record;
  canonical.erase("record_id");
  return sha256_hex(canonical.dump(-1, ' ', false, json::error_handler_t::replace)).substr(0, 16);
}

StoredRun stored_run(json record, const std::string& origin) {
  const Reader reader(record, origin);
  check_schema(reader, record);
  StoredRun run;
  run.record_id = reader.needed_text(record, "record_id");
  check_content(reader, record, run.record_id);
  run.group_id = reader.text(record, "group_id");
  if (run.group_id.empty()) {
    run.group_id = run.record_id;
  }
  run.start_ms = start_of(reader);
  run.label = reader.text(record, "label");
  run.reason = reader.text(record, "reason");
  run.status = reader.needed_text(record, "status");
  run.tags = tags_of(reader, record);
  reader.object("workload");
  run.metrics = metrics_of(reader, record);
  check_capture_errors(reader, record);
  if (const json* source = reader.find(record, "source");
      source != nullptr && source->is_object()) {
    run.git_rev = reader.text(*source, "git_rev");
    run.dirty = dirty_of(reader, *source);
  }
  run.workload_key = key_of(workload_fields(record));
  run.workload = workload_text(record);
  run.machine_key = key_of(machine_fields(record));
  run.machine = machine_text(record);
  run.environment_key = key_of(environment_fields(record));
  run.record = std::move(record);
  return run;
}

StoredRun parse_run(std::string_view text, const std::string& origin) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw DataError(origin + ": the file is empty");
  }
  json record;
  try {
    record = json::parse(text);
  } catch (const json::parse_error& error) {
    // An error after the last byte means that the end is missing.
    const bool cut_off = text.front() == '{' && error.byte >= text.size();
    if (cut_off) throw DataError(origin + ": the file is truncated: the JSON does not end");
    throw DataError(origin + ": not a record of bench: the file is not JSON");
  } catch (const json::out_of_range&) {
    throw DataError(origin + ": not a record of bench: a number is beyond the range of a double");
  }
  return stored_run(std::move(record), origin);
}

}  // namespace bench::results

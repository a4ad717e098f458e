#include "models/base/errors.h"
#include "results/formats/imported_record.h"
#include "results/formats/json_text.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"

/// hyperfine's --export-json: `results`, one per command, each with the `times` of its processes,
/// which are runs here.
namespace bench::results {
namespace {

using nlohmann::json;

constexpr const char* kHyperfineName = "hyperfine";

bool is_hyperfine(const ForeignFile& source) {
  return source.text.find("\"results\"") != std::string::npos &&
         source.text.find("\"command\"") != std::string::npos;
}

/// The item of a list parallel to `times`; null if the list is missing or shorter.
const json* beside(const json& result, const char* name, std::size_t index) {
  const json* list = field(result, name);
  if (list == nullptr || !list->is_array() || index >= list->size()) return nullptr;
  return (*list)[index].is_null() ? nullptr : &(*list)[index];
}

json read_process(const ForeignFile& source, const json& result, std::size_t index,
                  const std::string& where) {
  const json& time = result["times"][index];
  if (!time.is_number()) {
    bad_source(source, fmt::format("{}.times[{}] is not a number", where, index));
  }
  ImportedRecord record(source, kHyperfineName);
  record.set("workload.model", text_field(result, "command"));
  if (const json* parameters = field(result, "parameters"); parameters != nullptr) {
    for (const auto& [name, value] : parameters->items()) {
      record.tag(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  record.set("repeat_index", index);
  record.metric("wall_time", time.get<double>());
  if (const json* memory = beside(result, "memory_usage_byte", index);
      memory != nullptr && memory->is_number()) {
    record.metric("peak_rss", memory->get<double>());
  }
  if (const json* code = beside(result, "exit_codes", index);
      code != nullptr && code->is_number_integer() && *code != 0) {
    record.failed(fmt::format("exit status {}", code->get<int>()));
  }
  return std::move(record).finish();
}

Records read_hyperfine(const ForeignFile& source) {
  const json root = parse_json(source);
  const json& results = needed_member(source, root, "results", "the file", json::value_t::array);
  Records records;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string where = fmt::format("results[{}]", i);
    needed_member(source, results[i], "command", where, json::value_t::string);
    const json& times = needed_member(source, results[i], "times", where, json::value_t::array);
    for (std::size_t run = 0; run < times.size(); ++run) {
      records.push_back(read_process(source, results[i], run, where));
    }
  }
  if (records.empty()) bad_source(source, "'results' has no times");
  return records;
}

}  // namespace

Format hyperfine_format() {
  return {.name = kHyperfineName,
          .what = "hyperfine --export-json",
          .sniff = is_hyperfine,
          .read = read_hyperfine};
}

}  // namespace bench::results

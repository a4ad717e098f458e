#include "results/record/record_schema.h"

#include <algorithm>
#include <string_view>

#include "models/base/errors.h"
#include "results/record/json_section.h"
#include "results/record/record_table.h"

namespace bench::results {
namespace {

constexpr std::string_view kIntroduction =
    R"(# The record's fields and metrics

One record (`bench.record/2`) is one JSON object with these members. [NUMBERS.md](NUMBERS.md) explains some numbers in
more detail, such as series, roof, energy, deviations, the parts of a step, and int8. [LEFT_OUT.md](LEFT_OUT.md) lists
what a record omits, and why.

`bench_results schema --format=md` prints this page from the tables `*.inc` in [record/](record).
`bench_results schema` prints a [JSON Schema](record.schema.json) with the same definitions.

- `[]` is an item of a list, and `*` any name. A list or a text can be empty.
- An unavailable value is null, and `capture_errors` gives the reason under its path. Numbers that are not finite are
  null, too.
- A value is a boolean, a number, a string or null. A spread is an object with the numbers `mean`, `min` and `max`.
- An optional member is absent if its definition does not apply to the run.
- A record of another tool's file has the member `imported`, and null for what the file lacks.
- A run that is interrupted during the check after its last step is `aborted` with all its steps.

Steps of one run are not independent measurements of the machine: compare several runs. See the
[statistics](stats/README.md) of that, and [how to group runs](../bench/manual/MEASURE_WELL.md#repeats).

## Metrics

T is the wall time from the end of warm-up to the end of the last step. It excludes evaluations, checkpoints and the
printing of step lines. The n steps after warm-up have the times tᵢ
(`series.step_ns`, in ns). By the device's own clock they have the times dᵢ (`series.device_ns`). The busy step time is
the mean step without the time that it waited for input while no GPU computed.

| metric | unit | definition |
|---|---|---|
)";

/// `text` without `end`, if it ends with it.
bool remove_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) {
    return false;
  }
  text.remove_suffix(end.size());
  return true;
}

bool remove_start(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) {
    return false;
  }
  text.remove_prefix(start.size());
  return true;
}

/// The schema of a type in words.
Json schema_of(std::string_view type) {
  if (remove_end(type, " or null")) {
    Json schema = schema_of(type);
    schema["type"] = Json::array({schema["type"], "null"});
    return schema;
  }
  const bool list = remove_start(type, "list of ");
  if (list || remove_start(type, "map of ")) {
    remove_end(type, "s");
    return {{"type", list ? "array" : "object"},
            {list ? "items" : "additionalProperties", schema_of(type)}};
  }
  if (type == "value") {
    return {{"type", {"boolean", "number", "string", "null"}}};
  }
  if (type == "spread") {
    const Json number = schema_of("number or null");
    return {{"type", "object"},
            {"properties", {{"mean", number}, {"min", number}, {"max", number}}},
            {"required", {"mean", "min", "max"}}};
  }
  return {{"type", type}};
}

/// The schema at a path below `root`. Adds the objects on the way to it.
Json& schema_at(Json& root, std::string_view path, bool optional) {
  Json* schema = &root;
  while (!path.empty()) {
    std::string_view step = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), step.size() + 1));
    const bool item = remove_end(step, "[]");
    if (step == "*") {
      schema = &(*schema)["additionalProperties"];
      continue;
    }
    const std::string name(step);
    schema->emplace("type", "object");
    if (Json& properties = (*schema)["properties"]; !properties.contains(name)) {
      properties[name] = Json::object();
      if (!optional) {
        (*schema)["required"].push_back(name);
      }
    }
    schema = &(*schema)["properties"][name];
    if (item) {
      schema = &(*schema)["items"];
    }
  }
  return *schema;
}

void add_field(Json& root, const RecordField& field) {
  std::string_view type = field.type;
  const bool optional = remove_start(type, "optional ");
  Json& schema = schema_at(root, field.path, optional);
  std::string meaning(field.meaning);
  schema.update(schema_of(type));
  if (field.unit.find('|') == field.unit.npos) {
    if (!field.unit.empty()) meaning += fmt::format(" [{}]", field.unit);
  } else {
    for (std::string_view words = field.unit; !words.empty();) {
      const std::string_view word = words.substr(0, words.find('|'));
      schema["enum"].push_back(word);
      words.remove_prefix(std::min(words.size(), word.size() + 1));
    }
    if (schema["type"].is_array()) schema["enum"].push_back(nullptr);
  }
  schema["description"] = meaning;
}

std::string with_commas(std::string_view words) {
  std::string text;
  for (const char letter : words)
    text += letter == '|' ? std::string(", ") : std::string(1, letter);
  return text;
}

}  // namespace

std::string record_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"$comment", "Made by bench_results schema"},
               {"title", kSchema},
               {"description", "The record of one run of bench"}};
  for (const RecordField& field : record_fields()) add_field(root, field);
  return root.dump(1) + "\n";
}

std::string record_page() {
  std::string page(kIntroduction);
  for (const MetricRow& row : metric_rows()) {
    page += fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.meaning);
  }
  std::string section;
  for (const RecordField& field : record_fields()) {
    const std::string_view member = field.path.substr(0, field.path.find_first_of(".["));
    const bool whole = member == field.path && field.type.find("object") == field.type.npos;
    if (const std::string title = whole ? "The run" : fmt::format("`{}`", member);
        title != section) {
      page += fmt::format(
          "\n## {}\n\n| field | type | unit or format | definition |\n|---|---|---|---|\n", title);
      section = title;
    }
    page += fmt::format("| `{}` | {} | {} | {} |\n", field.path, field.type,
                        with_commas(field.unit), field.meaning);
  }
  return page;
}

}  // namespace bench::results

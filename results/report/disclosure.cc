#include "results/report/disclosure.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/page/markup.h"

namespace bench::results {
namespace {

using nlohmann::json;

/// Parts of a record that describe the machine and the program.
constexpr std::array kDisclosed = {"host",   "cpu",   "memory",  "gpu",    "env",
                                   "source", "build", "process", "storage"};

/// Members that name a person, a place or a path.
constexpr std::array kIdentifying = {"hostname", "machine_id_hash", "so_path",
                                     "uuid",     "pci_bus",         "branch",
                                     "remote",   "cpuset",          "container_id"};

bool identifies(const std::string& name) {
  return std::find(kIdentifying.begin(), kIdentifying.end(), name) != kIdentifying.end();
}

std::string value_text(const json& value) {
  if (value.is_null()) return "unknown";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    std::string text;
    for (const json& item : value) {
      if (!text.empty()) text += ", ";
      text += value_text(item);
    }
    return text;
  }
  return value.dump();
}

using Leaves = std::map<std::string, std::string>;

void add_leaves(const json& value, const std::string& path, bool anonymize, Leaves& leaves) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      if (anonymize && identifies(name)) continue;
      add_leaves(inner, fmt::format("{}.{}", path, name), anonymize, leaves);
    }
  } else if (value.is_array() && !value.empty() && value.front().is_object()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string name = text_field(value[i], "name", std::to_string(i));
      add_leaves(value[i], fmt::format("{}.{}", path, name), anonymize, leaves);
    }
  } else {
    leaves[path] = value_text(value);
  }
}

Leaves leaves_of(const StoredRun& run, bool anonymize) {
  Leaves leaves;
  for (const char* section : kDisclosed) {
    if (anonymize && section == std::string_view("env")) continue;
    if (const json* value = field(run.record, section))
      add_leaves(*value, section, anonymize, leaves);
  }
  return leaves;
}

/// All values of the system's runs, each once; many become a count.
std::string values_text(const std::set<std::string>& values) {
  constexpr std::size_t kMost = 3;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& value : values) {
    if (shown++ == kMost) return fmt::format("{} | and {} more", text, values.size() - kMost);
    if (!text.empty()) text += " | ";
    text += value;
  }
  return text;
}

/// The values of a system's runs, field by field.
using FieldValues = std::map<std::string, std::set<std::string>>;

FieldValues fields_of(const ReportSystem& system, bool anonymize) {
  FieldValues fields;
  for (const StoredRun* run : system.runs) {
    for (const auto& [path, value] : leaves_of(*run, anonymize)) fields[path].insert(value);
  }
  return fields;
}

std::string fields_table(const std::string& caption, const FieldValues& fields) {
  HtmlTable table(caption, {"field", "value"}, {1});
  for (const auto& [path, values] : fields) {
    table.row({html_text(path), html_text(values_text(values))});
  }
  return table.html();
}

/// Removes the values that all systems share, and returns them.
FieldValues take_common(std::vector<FieldValues>& systems) {
  FieldValues common;
  if (systems.size() < 2) return common;
  for (const auto& [path, values] : systems.front()) {
    const bool alike = std::all_of(systems.begin(), systems.end(), [&](const FieldValues& fields) {
      const auto found = fields.find(path);
      return found != fields.end() && found->second == values;
    });
    if (alike) common.emplace(path, values);
  }
  for (FieldValues& fields : systems) {
    for (const auto& [path, values] : common) fields.erase(path);
  }
  return common;
}

std::string system_tables(const ReportData& data, bool anonymize) {
  std::vector<FieldValues> systems;
  for (const ReportSystem& system : data.systems) {
    systems.push_back(fields_of(system, anonymize));
  }
  const FieldValues common = take_common(systems);
  std::string html;
  if (!common.empty()) {
    html =
        "<h3>All systems</h3>\n" +
        fields_table("Values that all systems share. A | separates values that differ among runs.",
                     common);
  }
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const ReportSystem& system = data.systems[i];
    if (systems[i].empty()) continue;
    const std::string caption =
        system.runs.size() == 1
            ? "Values of 1 run."
            : fmt::format("Values of {} runs. A | separates values that differ among them.",
                          system.runs.size());
    html += fmt::format("<h3>{}</h3>\n<p>{}</p>\n{}", html_text(system.name),
                        html_text(system.about), fields_table(caption, systems[i]));
  }
  return html;
}

/// The flags that the user gave, except those that change only the output.
std::string command_text(const StoredRun& run, bool anonymize) {
  const json* words = field(run.record, "flags.given");
  const json* output = field(run.record, "flags.output");
  std::string text;
  if (words == nullptr || !words->is_object()) return text;
  for (const auto& [name, value] : words->items()) {
    if (output != nullptr && output->contains(name)) continue;
    const std::string given = value_text(value);
    if (anonymize && given.find('/') != std::string::npos) continue;
    if (!text.empty()) text += " ";
    text += fmt::format("--{}={}", name, given);
  }
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool joins_a_word(char c) { return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// The text with its numbers replaced by N, so that warnings that differ only in numbers count as
/// one. Digits in names, as in avx512, stay.
std::string without_numbers(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (!is_digit(text[i])) {
      out += text[i++];
      continue;
    }
    const bool word = i > 0 && joins_a_word(text[i - 1]);
    const std::size_t start = i;
    while (i < text.size() && (is_digit(text[i]) ||
                               (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1])))) {
      ++i;
    }
    out += word ? text.substr(start, i - start) : std::string_view("N");
  }
  return out;
}

std::size_t warnings_of(const StoredRun& run) {
  const json* warnings = field(run.record, "quality.warnings");
  return warnings != nullptr && warnings->is_array() ? warnings->size() : 0;
}

struct NamedRun {
  const StoredRun& run;
  std::string work;
  std::string system;
};

/// All runs of the page; omitted runs come last.
std::vector<NamedRun> runs_of(const ReportData& data) {
  std::vector<NamedRun> runs;
  for (const ReportSystem& system : data.systems) {
    for (const StoredRun* run : system.runs) {
      runs.push_back({.run = *run, .work = workload_name(data, *run), .system = system.name});
    }
  }
  for (const StoredRun* run : data.left_out) {
    runs.push_back({.run = *run, .work = workload_name(data, *run), .system = "omitted"});
  }
  return runs;
}

void add_run(HtmlTable& table, const NamedRun& named, bool anonymize) {
  const StoredRun& run = named.run;
  const auto speed = speed_of(run);
  const auto spread = metric_value(run, "step_time.cv");
  const auto score = number_field(run.record, "quality.score");
  table.row({anonymize ? html_text(utc_by(run.start_ms, "%Y-%m-%d %H:%M:%S"))
                       : fmt::format("{}<br><small>{}</small>", html_text(run.record_id),
                                     utc_by(run.start_ms, "%Y-%m-%d %H:%M:%S")),
             html_text(named.system), html_text(named.work),
             speed ? fmt::format("{} {}/s", short_number(*speed), speed_unit(run)) : "none",
             spread ? short_number(100 * *spread) + "%" : "unknown",
             std::to_string(warnings_of(run)), score ? short_number(*score) : "none",
             html_text(run.status)});
}

/// Runs that share all flags except those of kOwnFiles share a row.
std::string flags_table(const std::vector<NamedRun>& named, bool anonymize) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> counts;
  for (const NamedRun& each : named) {
    ++counts[{each.work, each.system, command_text(each.run, anonymize)}];
  }
  HtmlTable table("Flags given on the command line", {"workload", "system", "runs", "flags"},
                  {1, 3});
  for (const auto& [row, runs] : counts) {
    const auto& [work, system, flags] = row;
    table.row({html_text(work), html_text(system), std::to_string(runs), html_text(flags)});
  }
  return table.html();
}

}  // namespace

std::string disclosure(const ReportData& data, bool anonymize) {
  HtmlTable runs(
      "All runs by system. Spread of steps: standard deviation of the step times / their mean",
      {anonymize ? "start (UTC)" : "record", "system", "workload", "speed", "spread of steps",
       "warnings", "score (0 to 100)", "status"},
      {1, 2, 7});
  const std::vector<NamedRun> named = runs_of(data);
  for (const NamedRun& run : named) add_run(runs, run, anonymize);
  return fmt::format("{}<h3>Runs</h3>\n{}{}", system_tables(data, anonymize), runs.html(),
                     flags_table(named, anonymize));
}

std::string quality_table(const ReportData& data) {
  HtmlTable table("What lowered or disturbed the results, as reported by the runs",
                  {"system", "runs", "warning"}, {2});
  bool any = false;
  for (const ReportSystem& system : data.systems) {
    std::map<std::string, std::size_t> counts;
    for (const StoredRun* run : system.runs) {
      for (const char* path : {"quality.warnings", "quality.reasons"}) {
        const json* list = field(run->record, path);
        if (list == nullptr || !list->is_array()) continue;
        for (const json& text : *list) {
          if (text.is_string()) ++counts[without_numbers(text.get<std::string>())];
        }
      }
    }
    for (const auto& [text, count] : counts) {
      table.row({html_text(system.name), fmt::format("{} of {}", count, system.runs.size()),
                 html_text(text)});
      any = true;
    }
  }
  return any ? table.html() : "<p>No run reported a warning.</p>\n";
}

}  // namespace bench::results

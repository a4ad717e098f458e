#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/identity.h"
#include "results/report/held_back.h"
#include "results/store/members.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"
#include "results/tool/sparkline.h"
#include "results/tool/table.h"

namespace bench::results {
namespace {

using nlohmann::json;

constexpr std::array kShowOptions = {
    kStoreOption,
    Option{.name = "json", .meaning = "print the whole record"},
};

void show_line(std::ostream& out, std::string_view name, const std::string& text) {
  constexpr std::size_t kNameWidth = 12;
  if (!text.empty()) {
    out << "  " << name << std::string(kNameWidth - std::min(kNameWidth - 1, name.size()), ' ')
        << printable(text) << "\n";
  }
}

std::string tags_text(const StoredRun& run) {
  std::string text;
  for (const auto& [name, value] : run.tags) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}={}", name, value);
  }
  return text;
}

std::string git_text(const StoredRun& run) {
  if (run.git_rev.empty() || !run.dirty.value_or(false)) return run.git_rev;
  return fmt::format("{}, built from uncommitted changes", run.git_rev);
}

void show_identity(const StoredRun& run, std::ostream& out) {
  const std::chrono::milliseconds start(run.start_ms);
  out << run.record_id << "  " << printable(run.workload) << "  " << printable(run.status) << "\n";
  show_line(out, "why", text_at(run.record, "status_reason"));
  show_line(out, "start", utc_text(std::chrono::system_clock::time_point(start)));
  show_line(out, "machine", run.machine);
  show_line(out, "os", text_at(run.record, "host.os"));
  show_line(out, "kernel", text_at(run.record, "host.kernel"));
  show_line(out, "container", text_at(run.record, "host.container"));
  show_line(out, "git", git_text(run));
  show_line(out, "label", run.label);
  show_line(out, "tags", tags_text(run));
  show_line(out, "reason", run.reason);
  show_line(out, "group", run.group_id == run.record_id ? "" : run.group_id);
}

void show_metrics(const StoredRun& run, std::ostream& out) {
  Table table{.columns = {"metric", "value", "unit", "better"}};
  for (const auto& [name, metric] : run.metrics) {
    const char* better = metric.better == Better::kHigher  ? "higher"
                         : metric.better == Better::kLower ? "lower"
                                                           : "";
    table.rows.push_back({name, metric.value, metric.unit, std::string(better)});
  }
  out << "\n";
  print_table(out, table, "text");
}

void show_steps(const StoredRun& run, std::ostream& out) {
  const json* steps = member_at(run.record, "series.step_ns");
  if (steps == nullptr || !steps->is_array() || steps->empty()) {
    return;
  }
  constexpr double kNanosecondsPerMillisecond = 1e6;
  std::vector<double> milliseconds;
  for (const json& step : *steps) {
    if (step.is_number()) {
      milliseconds.push_back(step.get<double>() / kNanosecondsPerMillisecond);
    }
  }
  if (milliseconds.empty()) {
    return;
  }
  const auto [least, most] = std::minmax_element(milliseconds.begin(), milliseconds.end());
  out << "\nsteps  " << sparkline(milliseconds) << "  " << *least << " to " << *most << " ms, "
      << milliseconds.size() << " steps\n";
}

/// The accuracies or other scores, and when the training reached them.
void show_evaluations(const StoredRun& run, std::ostream& out) {
  const json* evaluations = member_at(run.record, "evaluations");
  if (evaluations == nullptr || !evaluations->is_array() || evaluations->empty()) {
    return;
  }
  std::vector<std::string> columns{"step", "seconds_since_start", "images"};
  Table table{.columns = {"evaluated after step", "s from the start", "examples"}};
  if (const json* const scores = member_at(evaluations->front(), "scores")) {
    for (const auto& [name, value] : scores->items()) {
      columns.push_back("scores." + name);
      table.columns.push_back(printable(name));
    }
  } else {
    columns.insert(columns.end(), {"top_1", "top_5"});
    table.columns.insert(table.columns.end(), {"top-1", "top-5"});
  }
  for (const json& evaluation : *evaluations) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const std::string& name : columns) {
      const json* const value = member_at(evaluation, name);
      row.push_back(value != nullptr && value->is_number() ? Cell(value->get<double>()) : Cell());
    }
  }
  out << "\n";
  print_table(out, table, "text");
}

void show_sentences(const StoredRun& run, const char* path, const char* title, std::ostream& out) {
  const json* list = member_at(run.record, path);
  if (list == nullptr || !list->is_array() || list->empty()) {
    return;
  }
  out << "\n" << title << "\n";
  for (const json& sentence : *list) {
    if (sentence.is_string()) out << "  - " << printable(sentence.get<std::string>()) << "\n";
  }
}

void show_bound(const StoredRun& run, std::ostream& out) {
  if (run.status != "ok") return;
  const StoredRun* const one = &run;
  out << "\nlimited by  " << printable(held_back_by(std::span(&one, 1))) << "\n";
}

/// What lowered the numbers, and what is not known.
void show_quality(const StoredRun& run, std::ostream& out) {
  if (const json* score = member_at(run.record, "quality.score");
      score != nullptr && score->is_number()) {
    out << "\nquality  " << score->get<double>() << " of 100\n";
  }
  show_sentences(run, "quality.deductions", "points lost", out);
  show_sentences(run, "quality.warnings", "warnings", out);
  show_sentences(run, "quality.reasons", "reasons for INVALID", out);
  show_sentences(run, "violations", "reasons why it is not reportable", out);
  const json* unknown = member_at(run.record, "capture_errors");
  if (unknown != nullptr && unknown->is_object() && !unknown->empty()) {
    out << "\nunknown values, except flags that were not given\n";
    for (const auto& [path, why] : unknown->items()) {
      if (path.starts_with("flags.")) continue;
      out << "  " << printable(path) << ": "
          << printable(why.is_string() ? why.get<std::string>() : compact(why)) << "\n";
    }
  }
}

}  // namespace

std::span<const Option> options_of_show() { return kShowOptions; }

int run_show(const Arguments& arguments, Streams streams) {
  if (arguments.operands().empty()) {
    throw UsageError("show: no runs were given; give an id, a file or a filter");
  }
  bool first = true;
  for (const StoredRun& run : select_runs(arguments, arguments.operands(), streams.err)) {
    if (arguments.has("json")) {
      streams.out << run.record.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
      continue;
    }
    streams.out << (first ? "" : "\n");
    first = false;
    show_identity(run, streams.out);
    show_metrics(run, streams.out);
    show_steps(run, streams.out);
    show_evaluations(run, streams.out);
    show_bound(run, streams.out);
    show_quality(run, streams.out);
  }
  return 0;
}

}  // namespace bench::results

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/imported_record.h"
#include "results/formats/json_text.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"
#include "results/formats/utc_time.h"

/// LNT's report file, format_version "2": one machine, one run, and tests. Metrics of tests may be
/// lists of samples; each sample is a run here. The metrics are those of LNT's suite `nts`.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;
using nlohmann::json;

constexpr const char* kLntName = "lnt";
/// Precedes the workload in the name of a test.
constexpr const char* kLntPrefix = "bench.";

struct LntMetric {
  const char* theirs;
  const char* ours;
};
/// LNT's name for the speed: images per second, unless a parameter of the run lists the test.
constexpr const char* kLntSpeed = "score";
/// Our other metrics and their LNT names. Import reverses this only for files that bench wrote.
constexpr std::array kLntMetrics = {LntMetric{"execution_time", "step_time.mean"},
                                    LntMetric{"mem_bytes", "peak_rss"}};

Ordered lnt_machine(const StoredRun& run) {
  return {{"name", word_of(run.machine)},
          {"hardware", text_field(run.record, "cpu.model")},
          {"os", text_field(run.record, "host.os")}};
}

/// The parameter of the run that lists the tests whose score is `metric`. LNT keeps parameters that
/// it does not know, but refuses unknown members of a test.
std::string lnt_parameter(const char* metric) { return fmt::format("bench_{}", metric); }

/// Adds a metric of a test, if all its runs have it: a test's metrics are lists of equal length.
void add_lnt_metric(const std::vector<const StoredRun*>& runs, const std::string& metric,
                    const char* theirs, Ordered& test) {
  Ordered values = Ordered::array();
  for (const StoredRun* run : runs) {
    const auto value = metric_value(*run, metric);
    if (!value) return;
    values.push_back(*value);
  }
  test[theirs] = values;
}

/// One report per machine and revision, because a report has one of each.
Outputs write_lnt(std::span<const StoredRun> runs) {
  std::map<std::pair<std::string, std::string>, std::vector<const StoredRun*>> reports;
  for (const StoredRun& run : runs) reports[{run.machine_key, run.git_rev}].push_back(&run);
  Outputs outputs;
  for (const auto& [key, members] : reports) {
    std::map<std::string, std::vector<const StoredRun*>> tests;  // By workload.
    std::map<std::string, std::set<std::string>> other_speeds;
    std::int64_t first = members.front()->start_ms;
    std::int64_t last = end_ms(*members.front());
    for (const StoredRun* run : members) {
      first = std::min(first, run->start_ms);
      last = std::max(last, end_ms(*run));
      tests[run->workload_key].push_back(run);
    }
    Ordered list = Ordered::array();
    for (const auto& [workload, samples] : tests) {
      Ordered test = {{"name", kLntPrefix + word_of(samples.front()->workload)}};
      const std::string speed = speed_metric(*samples.front());
      add_lnt_metric(samples, speed, kLntSpeed, test);
      if (test.contains(kLntSpeed) && speed != kSpeedMetrics.front()) {
        other_speeds[speed].insert(test["name"]);
      }
      for (const LntMetric& metric : kLntMetrics) {
        add_lnt_metric(samples, metric.ours, metric.theirs, test);
      }
      list.push_back(test);
    }
    Ordered lnt_run = {{"start_time", utc_by(first, "%Y-%m-%dT%H:%M:%S")},
                       {"end_time", utc_by(last, "%Y-%m-%dT%H:%M:%S")},
                       {"llvm_project_revision", key.second},
                       {"producer", "bench"}};
    for (const auto& [metric, names] : other_speeds) {
      std::string listed;
      for (const std::string& name : names) listed += (listed.empty() ? "" : " ") + name;
      lnt_run[lnt_parameter(metric.c_str())] = listed;
    }
    const Ordered root = {{"format_version", "2"},
                          {"machine", lnt_machine(*members.front())},
                          {"run", lnt_run},
                          {"tests", list}};
    const std::string name =
        reports.size() == 1 ? "lnt.json" : fmt::format("lnt-{}.json", outputs.size() + 1);
    outputs.push_back(
        {.name = name,
         .contents = root.dump(4, ' ', false, Ordered::error_handler_t::replace) + "\n"});
  }
  return outputs;
}

bool is_lnt(const ForeignFile& source) {
  return source.text.find("\"format_version\"") != std::string::npos &&
         source.text.find("\"machine\"") != std::string::npos &&
         source.text.find("\"tests\"") != std::string::npos;
}

/// What the score of a test is, in a file that bench wrote.
std::string lnt_score(const json& root, const std::string& test) {
  for (const char* const metric : kSpeedMetrics) {
    std::istringstream names(text_field(root, "run." + lnt_parameter(metric)));
    std::string name;
    while (names >> name) {
      if (name == test) return metric;
    }
  }
  return kSpeedMetrics.front();
}

std::string lnt_metric_name(const json& root, const std::string& test, const std::string& theirs) {
  if (text_field(root, "run.producer") == "bench") {
    if (theirs == kLntSpeed) return lnt_score(root, test);
    for (const LntMetric& metric : kLntMetrics) {
      if (theirs == metric.theirs) return metric.ours;
    }
  }
  return theirs == "mem_bytes" ? "peak_rss" : theirs;
}

json read_lnt_sample(const ForeignFile& source, const json& root, const json& test,
                     std::size_t sample, const std::string& where) {
  ImportedRecord record(source, kLntName);
  const bool from_bench = text_field(root, "run.producer") == "bench";
  record.set("workload.model",
             without_prefix(text_field(test, "name"), from_bench ? kLntPrefix : ""));
  record.set("host.hostname", text_field(root, "machine.name"));
  record.set("cpu.model", text_field(root, "machine.hardware"));
  record.set("host.os", text_field(root, "machine.os"));
  record.set("source.git_rev", text_field(root, "run.llvm_project_revision"));
  record.set("repeat_index", sample);
  record.starts(utc_ms(text_field(root, "run.start_time")));
  if (const auto end = utc_ms(text_field(root, "run.end_time"))) record.ends(*end);
  for (const auto& [name, value] : test.items()) {
    const json* data = &value;
    if (value.is_array()) {
      if (sample >= value.size()) continue;
      data = &value[sample];
    } else if (sample > 0) {
      continue;
    }
    if (data->is_string() || data->is_null()) continue;
    if (!data->is_number()) {
      bad_source(source, fmt::format("'{}' in {} is not a number", name, where));
    }
    if (name.ends_with("_status") && *data != 0) record.failed(fmt::format("{} is not 0", name));
    record.metric(lnt_metric_name(root, text_field(test, "name"), name), data->get<double>());
  }
  return std::move(record).finish();
}

Records read_lnt(const ForeignFile& source) {
  const json root = parse_json(source);
  const auto version =
      needed_member(source, root, "format_version", "the file", json::value_t::string);
  if (version != "2") {
    bad_source(source,
               fmt::format("format_version is {}, but only \"2\" is supported", version.dump()));
  }
  needed_member(source, root, "machine", "the file", json::value_t::object);
  needed_member(source, root, "run", "the file", json::value_t::object);
  const json& tests = needed_member(source, root, "tests", "the file", json::value_t::array);
  Records records;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const std::string where = fmt::format("tests[{}]", i);
    needed_member(source, tests[i], "name", where, json::value_t::string);
    std::size_t samples = 1;
    for (const auto& [name, value] : tests[i].items()) {
      if (value.is_array()) samples = std::max(samples, value.size());
    }
    for (std::size_t sample = 0; sample < samples; ++sample) {
      records.push_back(read_lnt_sample(source, root, tests[i], sample, where));
    }
  }
  if (records.empty()) bad_source(source, "'tests' is empty");
  return records;
}

}  // namespace

Format lnt_format() {
  return {.name = kLntName,
          .what = "LNT's report file, format_version 2",
          .sniff = is_lnt,
          .read = read_lnt,
          .write = write_lnt,
          .holds_failures = false};
}

}  // namespace bench::results

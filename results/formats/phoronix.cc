#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"
#include "results/record/statistics.h"

/// composite.xml of the Phoronix Test Suite, by its result-file.xsd: systems, and results with one
/// entry per system. The value of an entry is the median of its runs, and its raw string lists
/// them.
namespace bench::results {
namespace {

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {  // XML 1.0 has no control characters.
      out += c;
    }
  }
  return out;
}

std::string element(int depth, const char* name, std::string_view text) {
  return fmt::format("{0}<{1}>{2}</{1}>\n", std::string(static_cast<std::size_t>(2 * depth), ' '),
                     name, xml_text(text));
}

std::string xml_time(std::int64_t ms) { return utc_by(ms, "%Y-%m-%d %H:%M:%S"); }

std::string phoronix_system(const StoredRun& run) {
  const nlohmann::json& record = run.record;
  std::string hardware = fmt::format("Processor: {} ({} Cores)", text_field(record, "cpu.model"),
                                     integer_field(record, "cpu.cores").value_or(0));
  if (const auto memory = integer_field(record, "memory.total")) {
    hardware += fmt::format(", Memory: {}MB", *memory / (std::int64_t{1} << 20U));
  }
  const std::string software =
      fmt::format("OS: {}, Kernel: {}, Compiler: {} {}", text_field(record, "host.os"),
                  text_field(record, "host.kernel"), text_field(record, "build.compiler"),
                  text_field(record, "build.version"));
  return "  <System>\n" + element(2, "Identifier", run.machine) +
         element(2, "TestClientVersion", text_field(record, "source.bench_version")) +
         element(2, "Hardware", hardware) + element(2, "Software", software) +
         element(2, "User", "") + element(2, "TimeStamp", xml_time(run.start_ms)) +
         element(2, "Notes", text_field(record, "build.flags")) + "  </System>\n";
}

std::string phoronix_entry(const std::vector<const StoredRun*>& runs) {
  std::vector<double> speeds;
  std::string raw;
  for (const StoredRun* run : runs) {
    speeds.push_back(*speed_of(*run));
    if (!raw.empty()) raw += ":";
    raw += nlohmann::json(speeds.back()).dump();
  }
  std::sort(speeds.begin(), speeds.end());
  return "      <Entry>\n" + element(4, "Identifier", runs.front()->machine) +
         element(4, "Value", nlohmann::json(quantile(speeds, 0.5)).dump()) +
         element(4, "RawString", raw) + "      </Entry>\n";
}

Outputs write_phoronix(std::span<const StoredRun> runs) {
  if (runs.empty())
    throw UsageError("--format=phoronix: no runs to export; select at least one run");
  std::map<std::string, const StoredRun*> systems;
  /// By workload and unit, then by machine.
  std::map<std::pair<std::string, std::string>,
           std::map<std::string, std::vector<const StoredRun*>>>
      results;
  std::int64_t latest = 0;
  for (const StoredRun& run : runs) {
    systems.emplace(run.machine, &run);
    if (speed_of(run)) results[{run.workload, speed_unit(run)}][run.machine].push_back(&run);
    latest = std::max(latest, end_ms(run));
  }
  const std::string version = text_field(runs.front().record, "source.bench_version");
  std::string text = "<?xml version=\"1.0\"?>\n<PhoronixTestSuite>\n  <Generated>\n" +
                     element(2, "Title", "bench") +
                     element(2, "Description", "Benchmarks of neural networks") +
                     element(2, "Notes", "") + element(2, "LastModified", xml_time(latest)) +
                     element(2, "TestClient", "bench " + version) + element(2, "InternalTags", "") +
                     element(2, "PreSetEnvironmentVariables", "") + "  </Generated>\n";
  for (const auto& [machine, run] : systems) text += phoronix_system(*run);
  for (const auto& [key, machines] : results) {
    const auto& [workload, unit] = key;
    std::string entries;
    for (const auto& [machine, members] : machines) entries += phoronix_entry(members);
    text += "  <Result>\n" + element(2, "Identifier", "local/bench") +
            element(2, "ProfileVersion", version) + element(2, "Title", "bench") +
            element(2, "AppVersion", version) + element(2, "Arguments", workload) +
            element(2, "Description", workload) + element(2, "Scale", fmt::format("{}/sec", unit)) +
            element(2, "Proportion", "HIB") + element(2, "DisplayFormat", "BAR_GRAPH") +
            "    <Data>\n" + entries + "    </Data>\n  </Result>\n";
  }
  return {{.name = "composite.xml", .contents = text + "</PhoronixTestSuite>\n"}};
}

}  // namespace

Format phoronix_format() {
  return {.name = "phoronix",
          .what = "composite.xml of the Phoronix Test Suite",
          .write = write_phoronix,
          .holds_failures = false};
}

}  // namespace bench::results

#include "bench/all_reduce/report.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/terminal/text_table.h"

namespace bench {
namespace {

std::string with_digits(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace

AllReduceRates rates_of(std::size_t bytes, int towers, double seconds) {
  const double rate = static_cast<double>(bytes) / seconds;
  return {.algorithm_bytes_per_second = rate,
          .bus_bytes_per_second = rate * 2 * (towers - 1) / towers};
}

std::string describe_bound() {
  return "bound: every byte of every tower is read once and written once, in total 2 x towers x "
         "bytes. Its time is measured: the threads of all towers double their own elements in "
         "place at the same time. It is a lower bound for sizes that exceed the caches. % is the "
         "bound's time / the algorithm's.";
}

std::string table_of(std::span<const CaseResult> results, int towers) {
  constexpr double kMicro = 1e6;
  constexpr double kGiga = 1e9;
  TextTable table({{.title = "bytes", .right = true},
                   {.title = "buffers", .right = true},
                   {.title = "spec"},
                   {.title = "time us", .right = true},
                   {.title = "alg GB/s", .right = true},
                   {.title = "bus GB/s", .right = true},
                   {.title = "bound us", .right = true},
                   {.title = "%", .right = true},
                   {.title = "wrong", .right = true}});
  for (const CaseResult& result : results) {
    for (const SpecResult& spec : result.specs) {
      const double seconds = spec.timing.median();
      const AllReduceRates rates = rates_of(result.measured.bytes(), towers, seconds);
      table.add_row({fmt::format("{}", result.measured.bytes()),
                     fmt::format("{}", result.measured.elements.size()), text_of(spec.timing.spec),
                     with_digits(kMicro * seconds, 1),
                     with_digits(rates.algorithm_bytes_per_second / kGiga, 2),
                     with_digits(rates.bus_bytes_per_second / kGiga, 2),
                     result.bound ? with_digits(kMicro * result.bound->median(), 1) : "-",
                     result.bound ? with_digits(100 * result.bound->median() / seconds, 0) : "-",
                     fmt::format("{}", spec.wrong)});
    }
  }
  std::ostringstream text;
  text << table;
  return text.str();
}

std::string json_of(std::span<const CaseResult> results, const ReportHeading& heading) {
  nlohmann::ordered_json json{{"program", "bench_all_reduce"},
                              {"schema_version", 1},
                              {"processes", heading.processes},
                              {"towers", heading.towers},
                              {"threads_per_tower", nullptr},
                              {"processor", nullptr},
                              {"gpu", nullptr},
                              {"model", nullptr},
                              {"iters_per_step", heading.iters_per_step},
                              {"bound", nullptr}};
  if (heading.gpu.empty()) {
    json["threads_per_tower"] = heading.threads_per_tower;
    json["processor"] = heading.processor;
    if (heading.processes == 1) {
      json["bound"] = describe_bound();
    }
  } else {
    json["gpu"] = heading.gpu;
  }
  if (!heading.model.empty()) {
    json["model"] = heading.model;
  }
  auto& cases = json["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& result : results) {
    auto& entry =
        cases.emplace_back(nlohmann::ordered_json{{"bytes", result.measured.bytes()},
                                                  {"dtype", name_of(result.measured.dtype)},
                                                  {"buffer_elements", result.measured.elements},
                                                  {"bound_seconds", nullptr},
                                                  {"specs", nlohmann::ordered_json::array()}});
    if (result.bound) {
      entry["bound_seconds"] = result.bound->seconds;
    }
    for (const SpecResult& spec : result.specs) {
      const double seconds = spec.timing.median();
      const AllReduceRates rates = rates_of(result.measured.bytes(), heading.towers, seconds);
      entry["specs"].push_back({{"spec", text_of(spec.timing.spec)},
                                {"median_seconds", seconds},
                                {"algorithm_bytes_per_second", rates.algorithm_bytes_per_second},
                                {"bus_bytes_per_second", rates.bus_bytes_per_second},
                                {"share_of_bound", nullptr},
                                {"wrong_elements", spec.wrong},
                                {"seconds", spec.timing.seconds}});
      if (result.bound) {
        entry["specs"].back()["share_of_bound"] = result.bound->median() / seconds;
      }
    }
  }
  constexpr int kIndent = 1;
  return json.dump(kIndent) + "\n";
}

}  // namespace bench

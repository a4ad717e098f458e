#include "bench/report/profile.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "models/base/errors.h"

namespace bench {
namespace {

// The number of rows shown per kernel; one more line sums up the others.
constexpr std::size_t kShownKernels = 40;

/// Sums rows by kind of op, costliest first.
std::vector<ProfileRow> by_op(const std::vector<ProfileRow>& rows) {
  std::map<std::string, ProfileRow> sums;
  for (const ProfileRow& row : rows) {
    ProfileRow& sum = sums[row.op];
    sum.name = row.op;
    sum.seconds += row.seconds;
    sum.flops += row.flops;
    sum.bytes += row.bytes;
  }
  std::vector<ProfileRow> result;
  for (auto& [op, sum] : sums) {
    result.push_back(std::move(sum));
  }
  return result;
}

class Table {
 public:
  Table(std::ostream& out, const Profile& profile) : out_(out), profile_(profile) {}

  void titles(const char* first) {
    print(first, "ms", "share %", "GFLOP/s", "GB/s", profile_.ceiling ? "% of ceiling" : "");
  }

  /// `ideal` is the time at the ceiling for everything that the row includes.
  void row(const ProfileRow& row, double ideal) {
    const auto rate = [&](double amount) {
      return amount > 0 && row.seconds > 0 ? fixed(amount / row.seconds / 1e9, 1) : "-";
    };
    print(row.name, fixed(1e3 * row.seconds, 3),
          fixed(100 * row.seconds / profile_.profiled_seconds, 1), rate(row.flops), rate(row.bytes),
          !profile_.ceiling              ? ""
          : ideal > 0 && row.seconds > 0 ? fixed(100 * ideal / row.seconds, 0)
                                         : "-");
  }

  static std::string fixed(double value, int digits) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
  }

 private:
  void print(const std::string& name, const std::string& time, const std::string& share,
             const std::string& flops, const std::string& bytes, const std::string& ceiling) {
    std::array<char, 64> numbers{};
    std::snprintf(numbers.data(), numbers.size(), "%10s %8s %9s %8s %13s", time.c_str(),
                  share.c_str(), flops.c_str(), bytes.c_str(), ceiling.c_str());
    out_ << numbers.data() << "  " << name << "\n";
  }

  std::ostream& out_;
  const Profile& profile_;
};

double ideal_seconds(const Profile& profile, const std::vector<ProfileRow>& rows,
                     const std::string& op = "") {
  double sum = 0;
  for (const ProfileRow& row : rows) {
    if (profile.ceiling && (op.empty() || row.op == op)) {
      sum += roofline_seconds(row, *profile.ceiling);
    }
  }
  return sum;
}

std::vector<ProfileRow> costliest_first(std::vector<ProfileRow> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return rows;
}

void print_kernels(std::ostream& out, const Profile& profile) {
  Table table(out, profile);
  table.titles("kernel");
  const std::vector<ProfileRow> rows = costliest_first(profile.rows);
  const std::size_t shown = std::min(rows.size(), kShownKernels);
  for (std::size_t i = 0; i < shown; ++i) {
    ProfileRow row = rows[i];
    row.name = fmt::format("{} {} [{}]", row.op, row.name, row.implementation);
    table.row(row, ideal_seconds(profile, {row}));
  }
  if (shown < rows.size()) {
    const std::vector<ProfileRow> rest(rows.begin() + static_cast<std::ptrdiff_t>(shown),
                                       rows.end());
    ProfileRow sum{.name = fmt::format("the other {} kernels", rest.size())};
    for (const ProfileRow& row : rest) {
      sum.seconds += row.seconds;
      sum.flops += row.flops;
      sum.bytes += row.bytes;
    }
    table.row(sum, ideal_seconds(profile, rest));
  }
}

void print_ceiling(std::ostream& out, const Ceiling& ceiling) {
  const auto giga = [](double rate) { return Table::fixed(rate / 1e9, 1); };
  out << "ceiling, measured: " << giga(ceiling.flops_per_second) << " GFLOP/s, "
      << giga(ceiling.bytes_per_second) << " GB/s\n";
  // On a busy machine, the product may be the faster of the two that are measured on a CPU.
  if (ceiling.product_flops_per_second < ceiling.flops_per_second || !ceiling.caches.empty()) {
    out << "a large matrix product: " << giga(ceiling.product_flops_per_second) << " GFLOP/s, "
        << Table::fixed(100 * ceiling.product_flops_per_second / ceiling.flops_per_second, 0)
        << " % of the ceiling\n";
  }
  if (!ceiling.caches.empty()) {
    out << "caches:";
    for (const Ceiling::Cache& cache : ceiling.caches) {
      out << (&cache == &ceiling.caches.front() ? " " : ", ")
          << fmt::format("L{} {} GB/s", cache.level, giga(cache.bytes_per_second));
    }
    out << "\n";
  }
}

/// Says if the profiled steps could not have all of the ceiling. If the product is the ceiling, the
/// sampled instructions may be slower by themselves, so nothing is known.
void print_competition(std::ostream& out, double flops_per_second, const Ceiling& ceiling) {
  constexpr double kQuiet = 0.9;
  const double share = flops_per_second / ceiling.flops_per_second;
  if (share < kQuiet && ceiling.product_flops_per_second < ceiling.flops_per_second) {
    out << fmt::format(
        "between the profiled steps: {:.1f} GFLOP/s, {:.0f} % of the ceiling; other programs or "
        "virtual machines may use the same cores\n",
        flops_per_second / 1e9, 100 * share);
  }
}

double microseconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// Adds the events of a tower; it began the step `late` after the first tower.
void add_tower(nlohmann::json& events, int number, const std::vector<Step>& steps,
               const KernelTimes::Last& last, std::chrono::nanoseconds late) {
  const auto add = [&](const std::string& name, const std::string& op,
                       const Executor::StepTime& time, nlohmann::json arguments) {
    events.push_back({{"name", name},
                      {"cat", op},
                      {"ph", "X"},
                      {"pid", number},
                      {"tid", 0},
                      {"ts", microseconds_of(late + time.begin)},
                      {"dur", microseconds_of(time.end - time.begin)},
                      {"args", std::move(arguments)}});
  };
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", number},
                    {"args", nlohmann::json::object({{"name", fmt::format("tower {}", number)}})}});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    add(steps[i].name, steps[i].op, last.kernels[i],
        {{"op", steps[i].op},
         {"implementation", steps[i].implementation},
         {"flops", 2 * steps[i].work.multiply_adds},
         {"bytes", steps[i].work.bytes}});
  }
  if (last.update.end > last.update.begin) {
    // Omitted for a device with separate memory, where the update's time includes the exchange.
    nlohmann::json arguments = nlohmann::json::object();
    if (last.exchange.count() > 0) arguments["exchange_us"] = microseconds_of(last.exchange);
    add("update", "update", last.update, std::move(arguments));
  }
}

}  // namespace

double arithmetic_seconds(const ProfileRow& row, const Ceiling& ceiling) {
  return (row.flops - row.avoidable_flops) / ceiling.flops_per_second;
}

double memory_seconds(const ProfileRow& row, const Ceiling& ceiling) {
  double seconds = 0;
  double held = 0;
  // The caches hold a part of each run's bytes.
  const auto pass = [&](double bytes_per_second) {
    seconds = std::max(seconds, (row.bytes - row.runs * held) / bytes_per_second);
  };
  for (const Ceiling::Cache& cache : ceiling.caches) {
    pass(cache.bytes_per_second);
    held += static_cast<double>(cache.bytes);
  }
  pass(ceiling.bytes_per_second);
  return seconds;
}

double roofline_seconds(const ProfileRow& row, const Ceiling& ceiling) {
  return std::max(arithmetic_seconds(row, ceiling), memory_seconds(row, ceiling));
}

namespace {

/// Bytes that a tower's update of all variables reads and writes. The rows that several towers
/// write to sparse gradients are counted as distinct.
std::size_t bytes_of_update(const Executor& executor, const OptimizerSettings& optimizer,
                            int towers) {
  constexpr std::size_t kCopiedBytes = 2;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < executor.segments().size(); ++i) {
    const OptimizerSegment& segment = executor.segments()[i];
    const std::size_t elements = segment.sparse_row == 0
                                     ? segment.count
                                     : segment.sparse_row * executor.sparse_rows(i).size() *
                                           static_cast<std::size_t>(towers);
    bytes += update_bytes(optimizer, elements) + kCopiedBytes * segment.copies.size() * elements;
  }
  return bytes;
}

}  // namespace

Profile make_profile(const Executor& executor, const KernelTimes& times, double step_seconds,
                     const RunSettings& settings) {
  const Workload& workload = settings.workload;
  const auto runs = static_cast<double>(runs_per_step(settings));
  Profile profile{.steps = times.steps,
                  .profiled_seconds = runs * times.whole,
                  .step_seconds = step_seconds,
                  .sampled_flops = times.flops_per_second};
  const auto& steps = executor.plan().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    profile.rows.push_back(
        {.name = steps[i].name,
         .op = steps[i].op,
         .implementation = steps[i].implementation,
         .seconds = runs * times.kernels[i],
         .flops = runs * 2.0 * static_cast<double>(steps[i].work.multiply_adds),
         .avoidable_flops = runs * 2.0 * static_cast<double>(steps[i].work.avoidable_multiply_adds),
         .bytes = runs * static_cast<double>(steps[i].work.bytes),
         .runs = runs});
  }
  const bool meet = workload.towers > 1 && workload.reduction;
  const double exchange = meet ? times.exchange : 0;
  if (exchange > 0) {
    profile.rows.push_back({.name = "all towers",
                            .op = "exchange",
                            .implementation = std::string(workload.strategy->name),
                            .seconds = exchange});
  }
  if (times.update > 0) {
    const bool holds_exchange = meet && exchange == 0;
    const bool updates_all = !meet || all_reduces(workload);
    const OptimizerSettings& optimizer = workload.optimizer;
    profile.rows.push_back(
        {.name = "all variables",
         .op = holds_exchange ? "exchange and optimizer" : "optimizer",
         .implementation = holds_exchange ? std::string(workload.strategy->name) : "one pass",
         .seconds = times.update - exchange,
         .bytes = updates_all ? static_cast<double>(bytes_of_update(executor, optimizer,
                                                                    meet ? workload.towers : 1))
                              : 0});
  }
  return profile;
}

std::vector<results::KernelTime> kernels_of(const Profile& profile) {
  std::vector<results::KernelTime> kernels;
  for (const ProfileRow& row : profile.rows) {
    kernels.push_back({.op = row.op,
                       .name = row.name,
                       .implementation = row.implementation,
                       .seconds = row.seconds,
                       .flops = row.flops,
                       .avoidable_flops = row.avoidable_flops,
                       .bytes = row.bytes});
  }
  return kernels;
}

results::Roof roof_of(const Profile& profile) {
  if (!profile.ceiling) {
    const Unknown why{"this device has no measured ceiling"};
    return {.flops_per_second = why,
            .product_flops_per_second = why,
            .bytes_per_second = why,
            .step_bytes = why,
            .least_step_seconds = why,
            .arithmetic_share = why};
  }
  const Ceiling& ceiling = *profile.ceiling;
  double seconds = 0;
  double of_arithmetic = 0;
  double bytes = 0;
  for (const ProfileRow& row : profile.rows) {
    bytes += row.bytes;
    const double least = roofline_seconds(row, ceiling);
    seconds += least;
    if (arithmetic_seconds(row, ceiling) > memory_seconds(row, ceiling)) {
      of_arithmetic += least;
    }
  }
  results::Roof roof{.flops_per_second = ceiling.flops_per_second,
                     .product_flops_per_second = ceiling.product_flops_per_second,
                     .bytes_per_second = ceiling.bytes_per_second,
                     .step_bytes = bytes,
                     .least_step_seconds = seconds,
                     .arithmetic_share = Unknown{"the work of every kernel is unknown"}};
  if (seconds > 0) {
    roof.arithmetic_share = of_arithmetic / seconds;
  }
  return roof;
}

results::Roof roof_of(std::span<const Profile> towers) {
  results::Roof longest = roof_of(towers.front());
  for (const Profile& tower : towers.subspan(1)) {
    const results::Roof roof = roof_of(tower);
    if (roof.least_step_seconds.known() &&
        (!longest.least_step_seconds.known() ||
         roof.least_step_seconds.value() > longest.least_step_seconds.value())) {
      longest = roof;
    }
  }
  return longest;
}

void print_profiles(std::ostream& out, std::span<const Profile> towers) {
  for (std::size_t tower = 0; tower < towers.size(); ++tower) {
    if (towers.size() > 1) {
      out << (tower == 0 ? "" : "\n") << "tower " << tower << "\n";
    }
    print_profile(out, towers[tower]);
  }
}

void print_profile(std::ostream& out, const Profile& profile) {
  Table table(out, profile);
  table.titles("kind of op");
  for (const ProfileRow& row : costliest_first(by_op(profile.rows))) {
    table.row(row, ideal_seconds(profile, profile.rows, row.name));
  }
  out << "\n";
  print_kernels(out, profile);
  double in_kernels = 0;
  for (const ProfileRow& row : profile.rows) {
    in_kernels += row.seconds;
  }
  const std::string step =
      fmt::format("step: {} ms without input", Table::fixed(1e3 * profile.step_seconds, 1));
  out << "\nkernels: means of " << profile.steps << " more steps of "
      << Table::fixed(1e3 * profile.profiled_seconds, 1) << " ms, "
      << Table::fixed(100 * (1 - in_kernels / profile.profiled_seconds), 1)
      << " % outside kernels\n";
  if (profile.ceiling) {
    print_ceiling(out, *profile.ceiling);
    if (profile.sampled_flops) {
      print_competition(out, *profile.sampled_flops, *profile.ceiling);
    }
    out << step << ", "
        << Table::fixed(100 * ideal_seconds(profile, profile.rows) / profile.step_seconds, 1)
        << " % of the roofline\n";
  } else {
    out << step << "; this device has no measured ceiling\n";
  }
}

void write_trace(const AtomicFile& file, Towers& towers, std::span<const KernelTimes> times) {
  nlohmann::json events = nlohmann::json::array();
  const auto begun =
      std::min_element(times.begin(), times.end(), [](const KernelTimes& a, const KernelTimes& b) {
        return a.last.begun < b.last.begun;
      })->last.begun;
  for (int number = 0; number < towers.size(); ++number) {
    const KernelTimes::Last& last = times[static_cast<std::size_t>(number)].last;
    add_tower(events, number, towers[number].executor().plan().steps, last, last.begun - begun);
  }
  file.write(nlohmann::json{{"traceEvents", events}}.dump() + "\n");
}

}  // namespace bench

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "results/conditions.h"

namespace bench {

/// The place of a run among others, as the program that starts them says in the environment:
/// BENCH_GROUP=<group>/<repeat>/<order>, of which the last two count from 0.
struct GroupPlace {
  std::string group{};
  int repeat = 0;
  int order = 0;
};
inline constexpr const char* kGroupVariable = "BENCH_GROUP";
/// Set beside it where --repeats of the run's own command line started it.
inline constexpr const char* kRepeatsVariable = "BENCH_REPEATS";
/// A file for the run's record beside those that its flags name.
inline constexpr const char* kRecordVariable = "BENCH_RECORD";

/// Throws UsageError for a text that has another form.
GroupPlace parse_group_place(const std::string& text);
std::string to_text(const GroupPlace& place);

/// The same run in processes of its own.
struct RepeatSettings {
  std::int64_t runs = 1;
  double cooldown_seconds = 0;
  /// Stop when half the interval of the median is no longer than this share of it.
  std::optional<double> until_ci = {};
  [[nodiscard]] bool asked() const { return runs > 1 || until_ci.has_value(); }
};

/// The run on the fewest devices of --scaling_sweep, that the others are held against; the times
/// are its towers' means, in seconds of a step, where they are known.
struct ScalingReference {
  int devices = 0;
  double images_per_second = 0;
  struct Parts {
    double input = 0;
    double computing = 0;
    double exposed_communication = 0;
    double updating = 0;
    double waiting = 0;  ///< Of exposed_communication.
  };
  std::optional<Parts> parts = {};
};
/// Tells a run of --scaling_sweep its reference; of the reference itself it is kScalingFirst.
inline constexpr const char* kScalingVariable = "BENCH_SCALING";
inline constexpr const char* kScalingFirst = "first";

std::string to_text(const ScalingReference& reference);
/// Throws UsageError for a text that is none.
ScalingReference parse_scaling_reference(const std::string& text);

/// "1,2,4": numbers of devices, each greater than the last. Throws UsageError.
std::vector<int> parse_device_counts(const std::string& text);

/// What a run of --scaling_sweep knows.
struct ScalingPlace {
  /// None of the first run.
  std::optional<ScalingReference> reference = {};
};

/// What a record says beside what was measured, and where it goes beside --result_file.
struct RecordSettings {
  results::Labels labels = {};
  Captured<results::Cost> cost = Unknown{"not given (--cost)"};
  /// A database or folder of records; unset: none.
  std::optional<std::filesystem::path> store = {};
  /// Where the program that repeats this run reads its record.
  std::optional<std::string> report_to = {};
  /// What was asked for, also of a run that is one of them.
  RepeatSettings repeats = {};
  /// Of a run that --repeats of its own command line started: which it is.
  std::optional<int> own_repeat = {};
  /// What --scaling_sweep asks for, of the program that starts the runs.
  std::vector<int> device_counts = {};
  /// Of a run that it started.
  std::optional<ScalingPlace> scaling = {};
  bool reportable = false;
};

/// Of flags and environment. Throws UsageError for a text of another form and DataError for a file
/// of --cost that is none.
RecordSettings record_settings_of(const Flags& flags);

/// "site=ams,rack=7". Throws UsageError.
std::map<std::string, std::string> parse_tags(const std::string& text);

/// A JSON object with `currency` and any of capex, hourly, years, kwh_price and pue. Throws
/// DataError naming the file.
results::Cost read_cost(const std::string& path);

/// "1%" or "0.01". Throws UsageError.
double parse_share(const std::string& text, std::string_view flag);

}  // namespace bench

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "results/record/conditions.h"

namespace bench {

/// The position of a run in its group. The parent program sets it in the environment:
/// BENCH_GROUP=<group>/<repeat>/<order>. `repeat` and `order` count from 0.
struct GroupPlace {
  std::string group{};
  int repeat = 0;
  int order = 0;
};
inline constexpr const char* kGroupVariable = "BENCH_GROUP";
/// Also set if --repeats on the run's own command line started it.
inline constexpr const char* kRepeatsVariable = "BENCH_REPEATS";
/// A file for the run's record, in addition to those that its flags name.
inline constexpr const char* kRecordVariable = "BENCH_RECORD";

/// Throws UsageError if the text has another form.
GroupPlace parse_group_place(const std::string& text);
std::string to_text(const GroupPlace& place);

/// Repeats of the same run, each in a separate process.
struct RepeatSettings {
  std::int64_t runs = 1;
  double cooldown_seconds = 0;
  /// Stop when the confidence interval's half-width is at most this fraction of the median.
  std::optional<double> until_ci = {};
  [[nodiscard]] bool asked() const { return runs > 1 || until_ci.has_value(); }
};

/// The run of --scaling_sweep on the fewest devices, with which the others are compared. The times
/// are means over its towers in seconds per step, if known.
struct ScalingReference {
  int devices = 0;
  double units_per_second = 0;
  struct Parts {
    double input = 0;
    double computing = 0;
    double exposed_communication = 0;
    double updating = 0;
    double waiting = 0;  ///< Part of exposed_communication.
  };
  std::optional<Parts> parts = {};
};
/// Passes the reference to a run of --scaling_sweep; in the reference run it is kScalingFirst.
inline constexpr const char* kScalingVariable = "BENCH_SCALING";
inline constexpr const char* kScalingFirst = "first";

std::string to_text(const ScalingReference& reference);
/// Throws UsageError if the text is not a reference.
ScalingReference parse_scaling_reference(const std::string& text);

/// Parses increasing device counts: "1,2,4". Throws UsageError.
std::vector<int> parse_device_counts(const std::string& text);

/// Parses the increasing numbers of --predict_ranks: "8,64". Throws UsageError.
std::vector<int> parse_predicted_ranks(const std::string& text);

/// The information that a run of --scaling_sweep has about the sweep.
struct ScalingPlace {
  /// nullopt in the first run.
  std::optional<ScalingReference> reference = {};
};

/// The record's contents besides the measurements, and its destinations besides --result_file.
struct RecordSettings {
  results::Labels labels = {};
  Captured<results::Cost> cost = Unknown{"not given (--cost)"};
  /// A database or folder of records; unset: no store.
  std::optional<std::filesystem::path> store = {};
  /// The file from which the program that repeats this run reads its record.
  std::optional<std::string> report_to = {};
  /// The requested repeats; also set in a run that is one of them.
  RepeatSettings repeats = {};
  /// The number of this repeat, if --repeats on its own command line started it.
  std::optional<int> own_repeat = {};
  /// The device counts of --scaling_sweep, in the program that starts the runs.
  std::vector<int> device_counts = {};
  /// Set in a run that --scaling_sweep started.
  std::optional<ScalingPlace> scaling = {};
  /// The numbers of processes for which --predict_ranks wants the speed.
  std::vector<int> predicted_ranks = {};
  bool reportable = false;
};

/// Reads flags and environment. Throws UsageError for a text of another form, or if the file of
/// --cost has no price of this machine.
RecordSettings record_settings_of(const Flags& flags);

/// Parses "site=ams,rack=7". Throws UsageError.
std::map<std::string, std::string> parse_tags(const std::string& text);

/// The price of one machine in a cost file (results/report/cost.h). Its entry matches `system`, the
/// tag of this name, or `machine`, the host and the processor. Throws UsageError.
results::Cost read_cost(const std::string& path, const std::string& system,
                        const std::string& machine);

/// Parses "1%" or "0.01". Throws UsageError.
double parse_share(const std::string& text, std::string_view flag);

}  // namespace bench

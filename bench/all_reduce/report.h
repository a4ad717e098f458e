#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/all_reduce/measure.h"

namespace bench {

/// The rates of adding `bytes` bytes of each tower in `seconds` seconds.
struct AllReduceRates {
  /// bytes / seconds.
  double algorithm_bytes_per_second = 0;
  /// The algorithm's rate times 2 (n - 1) / n, as nccl-tests defines it: the rate on the link of
  /// each of n towers.
  double bus_bytes_per_second = 0;
};
AllReduceRates rates_of(std::size_t bytes, int towers, double seconds);

/// Explains how the bound is measured, in a sentence or two.
std::string describe_bound();

/// A line per size and spec; "-" replaces missing bounds.
std::string table_of(std::span<const CaseResult> results, int towers);

struct ReportHeading {
  int processes = 1;
  /// The towers of all processes.
  int towers = 0;
  /// For CPU towers; 0 on GPUs.
  int threads_per_tower = 0;
  std::string processor = {};
  /// For GPU towers.
  std::string gpu = {};
  /// Empty for plain sizes.
  std::string model = {};
  int iters_per_step = 1;
};

/// All measurements.
std::string json_of(std::span<const CaseResult> results, const ReportHeading& heading);

}  // namespace bench

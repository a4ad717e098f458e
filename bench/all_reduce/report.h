#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/all_reduce/measure.h"

namespace bench {

/// Of so many bytes each of several towers has, added in so many seconds.
struct AllReduceRates {
  /// bytes / seconds.
  double algorithm_bytes_per_second = 0;
  /// Times 2 (n - 1) / n, as nccl-tests defines it: what each of n towers' links would carry.
  double bus_bytes_per_second = 0;
};
AllReduceRates rates_of(std::size_t bytes, int towers, double seconds);

/// How the bound is found, in a sentence or two.
std::string describe_bound();

/// A line per size and spec; without bounds "-" in their place.
std::string table_of(std::span<const CaseResult> results, int towers);

struct ReportHeading {
  int towers = 0;
  /// Of towers on the CPU; 0 on GPUs.
  int threads_per_tower = 0;
  std::string processor = {};
  /// Of towers on GPUs.
  std::string gpu = {};
  /// Empty: of plain sizes.
  std::string model = {};
  int iters_per_step = 1;
};

/// Everything that was measured.
std::string json_of(std::span<const CaseResult> results, const ReportHeading& heading);

}  // namespace bench

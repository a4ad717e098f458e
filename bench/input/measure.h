#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/input/options.h"
#include "pipeline/input_bound.h"

namespace bench {

/// The measurements of the pipeline with one number of threads.
struct InputResult {
  int threads = 0;
  /// One speed per repeat.
  std::vector<double> images_per_second = {};
  /// All repeats together.
  InputInterval all = {};

  [[nodiscard]] double median() const;
};

/// Takes batches for `seconds`, `repeats` times, after a warm-up of the same length. Calls `tell`
/// before each repeat, and `is_ended` after each batch. If it is true, ends without the current
/// repeat; the result may then have none. Throws UsageError and DataError as the dataset does.
InputResult measure_input(const InputOptions& options, int threads, int processors,
                          const std::function<void(int repeat)>& tell,
                          const std::function<bool()>& is_ended);

/// The CRC-32C of the images and labels of the first batches, all in one. Throws as
/// measure_input().
std::uint32_t checksum_of_batches(const InputOptions& options, int threads);

/// The table for a terminal.
std::string input_table(const InputOptions& options, std::span<const InputResult> results);
/// All measurements as JSON.
std::string input_json(const InputOptions& options, std::span<const InputResult> results);

}  // namespace bench

#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "pipeline/datasets/dataset.h"
#include "pipeline/input.h"

namespace bench {

/// The command line of bench_input. The table in options.cc has the defaults.
struct InputOptions {
  bool help = false;
  const Dataset* dataset = nullptr;
  DatasetOptions pipeline = {};
  SlotType type = SlotType::f32;
  std::int64_t image_size = 0;
  std::int64_t batch = 0;
  /// The numbers of preparing threads to measure, in order.
  std::vector<int> threads = {};
  double seconds = 0;
  int repeats = 0;
  std::string result_file = {};
  /// The number of batches to print a checksum of; 0: measure.
  int checked_batches = 0;
};

/// Reads the options. Throws UsageError with the option, the given value and the accepted ones.
/// `processors` is the number of processors that this process may use.
InputOptions read_input_options(std::span<const std::string> words, int processors);

/// Prints the usage and the options.
void print_input_usage(std::ostream& out);

}  // namespace bench

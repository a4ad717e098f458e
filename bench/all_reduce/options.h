#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/dtype.h"
#include "variable_mgmt/collectives/all_reduce_spec.h"

namespace bench {

/// The command line of bench_all_reduce. The table in options.cc has the defaults.
struct AllReduceOptions {
  bool help = false;
  /// The model whose gradients are added; empty: plain sizes.
  std::string model = {};
  /// The bytes of each tower; each size is a multiple of the element's size.
  std::vector<std::size_t> sizes = {};
  /// The number of towers, of each process if there are several.
  int towers = 0;
  /// Use a GPU for each tower, else CPU threads.
  bool on_gpus = false;
  /// The threads of each CPU tower; nullopt: the towers share the processors equally.
  std::optional<int> threads = {};
  DType dtype = DType::f32;
  /// The specs as given; empty: every algorithm available to this number of towers.
  std::vector<std::string> specs = {};
  std::int64_t small_max_bytes = 0;
  std::int64_t small_max_group = 0;
  std::int64_t repacking = 0;
  std::int64_t bucket_mb = 0;
  int iters_per_step = 0;
  int num_batches = 0;
  int num_warmup_batches = 0;
  std::string result_file = {};
};

/// Reads the options for one process or several. Throws UsageError with the option, the given value
/// and the accepted ones.
AllReduceOptions read_options(std::span<const std::string> words, int processes = 1);

/// Prints the usage and the options.
void print_usage(std::ostream& out);

}  // namespace bench

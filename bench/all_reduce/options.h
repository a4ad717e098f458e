#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/dtype.h"
#include "variable_mgmt/collectives/all_reduce_spec.h"

namespace bench {

/// The command line of bench_all_reduce.
struct AllReduceOptions {
  bool help = false;
  /// Whose gradients are added; empty: plain sizes are.
  std::string model = {};
  /// Bytes of each tower's elements, each a whole number of them.
  std::vector<std::size_t> sizes = {};
  int towers = 2;
  /// A GPU for each tower; else threads of the CPU.
  bool on_gpus = false;
  /// Of each tower of the CPU; none: the processors are shared out.
  std::optional<int> threads = {};
  DType dtype = DType::f32;
  /// As they were given, for so many towers; empty: every algorithm that can be had.
  std::vector<std::string> specs = {};
  std::int64_t small_max_bytes = 0;
  std::int64_t small_max_group = 10;
  std::int64_t repacking = 0;
  std::int64_t bucket_mb = 0;
  int iters_per_step = 5;
  int num_batches = 20;
  int num_warmup_batches = 2;
  std::string result_file = {};
};

/// `--flag=value`; throws UsageError that names the flag, what was given and what is accepted.
AllReduceOptions read_options(std::span<const std::string_view> arguments);

/// How to call the program: a line per flag.
void print_usage(std::ostream& out);

}  // namespace bench

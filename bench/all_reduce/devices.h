#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/all_reduce/options.h"
#include "kernels/backend.h"

namespace bench {

/// What the towers of bench_all_reduce add on.
struct AllReduceDevices {
  /// Tower `rank`'s, to be made on its thread.
  std::function<std::unique_ptr<Backend>(int rank)> make;
  /// Of each tower on the CPU; 0 on GPUs.
  int threads_per_tower = 0;
  /// The processor, or the GPUs, each kind once.
  std::string name;
  /// "2 threads", or the name of the GPUs.
  std::string each;
};

/// Throws UsageError where there are not so many, or no GPU.
AllReduceDevices devices_of(const AllReduceOptions& options);

/// What is timed: what was asked for, else every algorithm and, on GPUs, NCCL. `note` says why not
/// NCCL there; else it is left as it is.
std::vector<std::vector<AllReduceRange>> specs_of(const AllReduceOptions& options,
                                                  std::string& note);

}  // namespace bench

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/all_reduce/options.h"
#include "kernels/backend.h"

namespace bench {

/// The devices on which the towers of bench_all_reduce add.
struct AllReduceDevices {
  /// Makes the device of tower `rank`; call it on the tower's thread.
  std::function<std::unique_ptr<Backend>(int rank)> make;
  /// The threads of each CPU tower; 0 on GPUs.
  int threads_per_tower = 0;
  /// The processor, or each kind of GPU once.
  std::string name;
  /// "2 threads", or the name of the GPUs.
  std::string each;
};

/// The first tower uses GPU `first_gpu`. Throws UsageError if there are too few devices or no GPU.
AllReduceDevices devices_of(const AllReduceOptions& options, int first_gpu = 0);

/// The specs to time: the requested ones, else every algorithm and, on GPUs, NCCL. Of several
/// processes, the only other algorithm is `processes`. Sets `note` to the reason if NCCL is missing
/// on GPUs; otherwise leaves it unchanged.
std::vector<std::vector<AllReduceRange>> specs_of(const AllReduceOptions& options, bool several,
                                                  std::string& note);

}  // namespace bench

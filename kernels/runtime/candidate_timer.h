#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/kernel_timer.h"
#include "models/base/errors.h"
#include "models/base/watch.h"

namespace bench {

/// The device memory that timing may use, in bytes.
struct TimingMemory {
  /// For a candidate's tensors and workspace, and for the buffer that empties the caches.
  std::size_t all = std::numeric_limits<std::size_t>::max();
  /// For a workspace, in addition to everything else in the plan.
  std::size_t workspace = std::numeric_limits<std::size_t>::max();
};

/// Times candidates of nodes separately. Their tensors have random numbers and come from memory, as
/// in a step, where other kernels have run since they were written.
class CandidateTimer {
 public:
  /// All arguments must outlive this object. `watch` is called between two launches with the number
  /// of timed candidates; an exception from it ends the timing.
  CandidateTimer(Backend& backend, KernelTimer& timer, const TimingMemory& memory, Watch watch);
  ~CandidateTimer();
  CandidateTimer(const CandidateTimer&) = delete;
  CandidateTimer& operator=(const CandidateTimer&) = delete;

  /// Empty for a candidate that needs more memory than available, or whose kernel the device
  /// refuses to create or to run. Candidates of one implementation for equal nodes are timed once.
  /// Throws DeviceError if the device cannot be used after a candidate failed.
  std::optional<double> seconds(const Graph& graph, const Node& node, const Candidate& candidate);

  /// The time of a reorder, under the same conditions.
  std::optional<double> reorder_seconds(const TensorType& type, const Layout& from,
                                        const Layout& to);

  /// The outcomes of the requested candidates; equal ones count once.
  struct Counts {
    std::int64_t timed = 0;
    std::int64_t too_large = 0;
    std::int64_t refused = 0;
    /// Candidates that failed when they ran: the implementation and the error of each.
    std::vector<std::string> failed;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Run;
  std::optional<double> measure(const Graph& graph, const Node& node, const Candidate& candidate);
  double sample(Run& run);
  void empty_caches();
  /// Returns if the device still works after a candidate failed with `error`. Throws DeviceError
  /// with the candidate's name if not.
  void check_device(const Candidate& candidate, const DeviceError& error);
  void warm_up();
  /// A block of numbers of the type, which is copied into memory.
  const DeviceMemory& numbers(DType dtype);
  void fill(std::byte* to, std::size_t bytes, DType dtype);

  Backend& backend_;
  KernelTimer& timer_;
  TimingMemory memory_;
  Watch watch_;
  std::map<DType, std::unique_ptr<DeviceMemory>> numbers_;
  std::size_t flushed_bytes_ = 0;
  std::unique_ptr<DeviceMemory> flushed_;
  std::map<std::string, std::optional<double>> known_;
  Counts counts_;
  /// Destroyed first: nothing above may be freed while work is pending.
  std::unique_ptr<Stream> stream_;
};

}  // namespace bench

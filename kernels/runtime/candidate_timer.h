#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernels/backend.h"
#include "kernels/runtime/kernel_timer.h"
#include "models/base/watch.h"

namespace bench {

/// What timing may take of the device's memory, in bytes.
struct TimingMemory {
  /// For a candidate's tensors and workspace, and what empties the caches.
  std::size_t all = std::numeric_limits<std::size_t>::max();
  /// For a workspace, beside all else that the plan will hold.
  std::size_t workspace = std::numeric_limits<std::size_t>::max();
};

/// Times candidates of nodes, each by itself: on tensors of their own with random numbers, read
/// from memory as in a step, where other kernels have run since they were written.
class CandidateTimer {
 public:
  /// All outlive this. `watch` hears, between two launches, how many candidates were timed; what it
  /// throws ends the timing.
  CandidateTimer(Backend& backend, KernelTimer& timer, const TimingMemory& memory, Watch watch);
  ~CandidateTimer();
  CandidateTimer(const CandidateTimer&) = delete;
  CandidateTimer& operator=(const CandidateTimer&) = delete;

  /// None for a candidate that takes more memory than there is, or whose kernel the device refuses
  /// to make. Candidates of one implementation for equal nodes are timed once. Throws DeviceError
  /// when a launch fails.
  std::optional<double> seconds(const Graph& graph, const Node& node, const Candidate& candidate);

  /// What became of the candidates asked for, equal ones counted once.
  struct Counts {
    std::int64_t timed = 0;
    std::int64_t too_large = 0;
    std::int64_t refused = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Run;
  std::optional<double> measure(const Graph& graph, const Node& node, const Candidate& candidate);
  double sample(Run& run);
  void warm_up();
  /// Numbers of the type, which go into memory by copies.
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
  /// Goes first: nothing above may go while work is under way.
  std::unique_ptr<Stream> stream_;
};

}  // namespace bench

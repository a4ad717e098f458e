#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "variable_mgmt/collectives/collective.h"

namespace bench {

/// The time that each repetition of a step's all-reduces took with one spec.
struct AllReduceTiming {
  /// Empty for the bound.
  std::vector<AllReduceRange> spec;
  /// Seconds from the first tower's begin until the last tower was done.
  std::vector<double> seconds;
  [[nodiscard]] double median() const;
};

/// What to time.
struct TrialPlan {
  /// The towers' names by rank.
  std::vector<std::string> names;
  std::vector<std::vector<AllReduceRange>> specs;
  /// The sizes of a step's buffer views, which are all started before the first wait.
  std::vector<std::size_t> elements;
  DType dtype = DType::f32;
  /// How often a repetition adds them, in sequence.
  int chained = 1;
  int warm_up = 1;
  int repetitions = 5;
  std::vector<int> ring_order = {};
  /// Makes a spec's collective. Null: of one process.
  std::function<std::unique_ptr<Collective>(CollectiveOptions)> make = {};
  /// How long a tower waits for NCCL's connections, and for all its sums of a step together.
  std::chrono::milliseconds nccl_timeout = std::chrono::seconds(60);
  /// Also times the lower bound of all algorithms: each tower reads and writes its own buffer views
  /// once, with all its threads. Only if the host shares the devices' memory.
  bool bound = false;
};

/// Times all-reduces between towers, for --all_reduce_spec=auto and bench_all_reduce. All towers
/// share one object.
class AllReduceTrial {
 public:
  /// Throws UsageError for a spec that the towers cannot run.
  explicit AllReduceTrial(TrialPlan plan);
  ~AllReduceTrial();
  AllReduceTrial(const AllReduceTrial&) = delete;
  AllReduceTrial& operator=(const AllReduceTrial&) = delete;

  /// Call it once per tower, on its host thread. Returns when all towers have timed every spec, on
  /// their own zeroed memory. Throws what CollectiveMember::wait() does.
  void run(int rank, Backend& backend, Stream& stream, const Patience& patience);
  /// Reports a tower's failure; the others' run() throws Cancelled. From any thread.
  void cancel(int rank, const std::string& reason) noexcept;
  /// The timings in the order of the plan's specs, the same for all towers. On any thread, once a
  /// run() has returned.
  [[nodiscard]] std::vector<AllReduceTiming> timings() const;
  /// The timing of the bound, if the plan asks for it; likewise.
  [[nodiscard]] AllReduceTiming bound() const;

 private:
  /// When a tower began and ended.
  struct Span {
    std::chrono::steady_clock::time_point begin;
    std::chrono::steady_clock::time_point end;
  };
  /// A tower's part in the trial.
  class Part;
  [[nodiscard]] std::vector<Span>& spans(std::size_t spec, int rank) {
    return spans_[spec * plan_.names.size() + static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::vector<double> seconds(std::size_t spec) const;

  const TrialPlan plan_;
  /// One per spec; the last one is the barrier at which the towers begin.
  std::vector<std::unique_ptr<Collective>> collectives_;
  /// Each tower's spans, per spec; those of the bound are last.
  std::vector<std::vector<Span>> spans_;
};

/// All algorithms with which `members` towers of one host can add, each for all sizes. Omits NCCL,
/// which needs a GPU for each.
std::vector<std::vector<AllReduceRange>> specs_to_try(int members);

/// The fastest by its median; the first of equals.
const AllReduceTiming& quickest(const std::vector<AllReduceTiming>& timings);

/// The spec as text: "pscpu:32768:xring#2".
std::string text_of(const std::vector<AllReduceRange>& spec);

/// The choice and the figures: "xring (12.10 ms; shm 14.00 ms, tree 20.31 ms)".
std::string describe_choice(const std::vector<AllReduceTiming>& timings);

}  // namespace bench

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "variable_mgmt/collectives/collective.h"

namespace bench {

/// How long each repetition of a step's all-reduces took by one spec.
struct AllReduceTiming {
  /// Empty: that of the bound.
  std::vector<AllReduceRange> spec;
  /// From when the first tower began until the last one was done, in seconds.
  std::vector<double> seconds;
  [[nodiscard]] double median() const;
};

/// What is timed.
struct TrialPlan {
  /// Of the towers, by rank.
  std::vector<std::string> names;
  std::vector<std::vector<AllReduceRange>> specs;
  /// Of the stretches of a step, which are all started before any is waited for.
  std::vector<std::size_t> elements;
  DType dtype = DType::f32;
  /// How often a repetition adds them, one after the other.
  int chained = 1;
  int warm_up = 1;
  int repetitions = 5;
  std::vector<int> ring_order = {};
  /// How long a tower waits for NCCL's connections, and for all its sums of a step together.
  std::chrono::milliseconds nccl_timeout = std::chrono::seconds(60);
  /// Also times the bound of all of them: each tower reads and writes its own stretches once, with
  /// all its threads. Where the host shares the devices' memory.
  bool bound = false;
};

/// Times all-reduces between towers, for --all_reduce_spec=auto and for bench_all_reduce. One
/// object for all towers.
class AllReduceTrial {
 public:
  /// Throws UsageError for a spec that the towers cannot run.
  explicit AllReduceTrial(TrialPlan plan);
  ~AllReduceTrial();
  AllReduceTrial(const AllReduceTrial&) = delete;
  AllReduceTrial& operator=(const AllReduceTrial&) = delete;

  /// To be called once for each tower, by its host thread. Returns when all towers have timed every
  /// spec, on zeroed memory of its own. Throws what CollectiveMember::wait() does.
  void run(int rank, Backend& backend, Stream& stream, const Patience& patience);
  /// A tower has failed; the others' run() throws CollectiveCancelled. From any thread.
  void cancel(int rank, const std::string& reason) noexcept;
  /// In the order of the plan's specs; on any thread, once a run() has returned. All towers see the
  /// same.
  [[nodiscard]] std::vector<AllReduceTiming> timings() const;
  /// Where the plan asks for the bound; likewise.
  [[nodiscard]] AllReduceTiming bound() const;

 private:
  /// From when to when a tower was at it.
  struct Span {
    std::chrono::steady_clock::time_point begin;
    std::chrono::steady_clock::time_point end;
  };
  /// One tower's run.
  class Tower;
  [[nodiscard]] std::vector<Span>& spans(std::size_t spec, int rank) {
    return spans_[spec * plan_.names.size() + static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::vector<double> seconds(std::size_t spec) const;

  const TrialPlan plan_;
  /// Of each spec; behind them that through which the towers begin at once.
  std::vector<std::unique_ptr<Collective>> collectives_;
  /// Of each spec, and of the bound behind them, each tower's.
  std::vector<std::vector<Span>> spans_;
};

/// Every algorithm with which so many towers of one host can add, each for all sizes; without NCCL,
/// which takes a GPU for each.
std::vector<std::vector<AllReduceRange>> specs_to_try(int members);

/// The quickest by its median; the first of equals.
const AllReduceTiming& quickest(const std::vector<AllReduceTiming>& timings);

/// "pscpu:32768:xring#2".
std::string text_of(const std::vector<AllReduceRange>& spec);

/// "xring (12.10 ms; shm 14.00 ms, tree 20.31 ms)": what was chosen and the figures.
std::string describe_choice(const std::vector<AllReduceTiming>& timings);

}  // namespace bench

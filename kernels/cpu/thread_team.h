#pragma once

#include <cstdint>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

namespace bench::cpu {

/// Items begin..end-1.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
};

/// Elements per thread below which waking another one costs more than it saves.
inline constexpr std::int64_t kElementGrain = 4096;

/// The threads of one tower: an OpenMP team. A library that uses OpenMP on the same host thread
/// shares these threads instead of adding more. Packaged versions of oneDNN use OpenMP.
///
/// OpenMP keeps a pool per host thread. A team is constructed, used and destroyed on one host
/// thread, which is its thread 0. Several towers use several host threads with one team each.
class ThreadTeam {
 public:
  /// One thread per logical processor, in that order, all started on return. With `pin` each thread
  /// may only run on its processor. Throws UsageError for an empty list and for more threads than
  /// most_threads(). Throws DeviceError for an unusable processor, or if the system starts fewer
  /// threads: a library that shares the team waits for all of it.
  ThreadTeam(std::vector<int> processors, bool pin);
  /// Restores the processors and the team size of the calling host thread and its OpenMP pool.
  ~ThreadTeam();  // NOLINT(bugprone-exception-escape)
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// The number of threads that OpenMP's limit (OMP_THREAD_LIMIT) allows a team.
  static int most_threads();

  [[nodiscard]] int size() const { return static_cast<int>(processors_.size()); }
  /// The logical processors, one per thread.
  [[nodiscard]] std::span<const int> processors() const { return processors_; }

  /// Calls work(thread) concurrently once for every thread 0..size()-1 and waits for all of them.
  /// `work` must not throw. Does not allocate. Throws InternalError on a host thread that did not
  /// construct the team.
  template <class Work>
  void parallel(const Work& work) {
    run(&call_work<Work>, &work);
  }

  /// Splits 0..count-1 among the threads at multiples of `grain` and calls work(range) for each
  /// non-empty part. The caller alone runs ranges that are too small to wake threads for.
  template <class Work>
  void for_ranges(std::int64_t count, std::int64_t grain, const Work& work) {
    if (count <= kSmallGrains * grain) {
      if (count > 0) {
        work(Range{.begin = 0, .end = count});
      }
      return;
    }
    parallel([&](int thread) {
      const Range range = split(count, size(), thread, grain);
      if (range.count() > 0) {
        work(range);
      }
    });
  }

  /// The sum of term(thread) over all threads, always added in the order of the threads.
  template <class Term>
  double sum(const Term& term) {
    parallel([&](int thread) { terms_[static_cast<std::size_t>(thread)].value = term(thread); });
    double total = 0;
    for (const PaddedTerm& each : terms_) {
      total += each.value;
    }
    return total;
  }

  /// Part `part` of `parts` of 0..count-1. Parts differ by at most one grain, are in order, and
  /// border each other at multiples of `grain`.
  static Range split(std::int64_t count, int parts, int part, std::int64_t grain = 1);

 private:
  using Call = void (*)(const void* work, int thread);
  static constexpr std::int64_t kSmallGrains = 2;
  static constexpr std::size_t kCacheLineBytes = 64;
  /// One cache line each, to avoid false sharing.
  struct alignas(kCacheLineBytes) PaddedTerm {
    double value = 0;
  };

  template <class Work>
  static void call_work(const void* work, int thread) {
    (*static_cast<const Work*>(work))(thread);
  }
  void run(Call call, const void* work);
  /// Ensures that OpenMP's pool has all threads: OpenMP ends the process if it cannot start one.
  void start() const;

  std::vector<int> processors_;
  std::vector<PaddedTerm> terms_;
  std::thread::id owner_;
  /// Processors of the host thread before it was pinned; empty when nothing was pinned.
  std::vector<int> processors_before_;
  int team_size_before_;
};

}  // namespace bench::cpu

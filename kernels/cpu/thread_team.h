#pragma once

#include <cstdint>
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

/// The threads of one tower: an OpenMP team, so that a library that runs on OpenMP from the same
/// host thread shares these threads instead of adding its own.
///
/// OpenMP keeps a pool per host thread: a team is made, used and destroyed on one host thread,
/// which is its thread 0; several towers are several host threads with a team each.
class ThreadTeam {
 public:
  /// One thread per logical processor, in that order, all started when this returns. With `pin`
  /// each thread may run on its processor only. Throws UsageError for an empty list and for more
  /// threads than most_threads(), DeviceError for a processor that cannot be used and where the
  /// system gives fewer threads: a library that shares the team waits for all of it.
  ThreadTeam(std::vector<int> processors, bool pin);
  /// Gives the calling host thread and its OpenMP pool back the processors and the team size they
  /// had.
  ~ThreadTeam();  // NOLINT(bugprone-exception-escape)
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// How many threads OpenMP's limit (OMP_THREAD_LIMIT) allows a team.
  static int most_threads();

  [[nodiscard]] int size() const { return static_cast<int>(processors_.size()); }

  /// Calls work(thread) once for every thread 0..size()-1, all at once, and waits for all of them.
  /// `work` must not throw. Allocates nothing. Throws InternalError on another host thread than the
  /// one that made the team.
  template <class Work>
  void parallel(const Work& work) {
    run(&call_work<Work>, &work);
  }

  /// Splits 0..count-1 among the threads at multiples of `grain` and calls work(range) for each
  /// part that is not empty. Too few items to be worth waking threads run on the caller alone.
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

  /// Part `part` of `parts` of 0..count-1: parts differ by at most one grain, are in order, and
  /// meet at multiples of `grain`.
  static Range split(std::int64_t count, int parts, int part, std::int64_t grain = 1);

 private:
  using Call = void (*)(const void* work, int thread);
  static constexpr std::int64_t kSmallGrains = 2;
  static constexpr std::size_t kCacheLineBytes = 64;
  /// One cache line each, so that threads do not share one.
  struct alignas(kCacheLineBytes) PaddedTerm {
    double value = 0;
  };

  template <class Work>
  static void call_work(const void* work, int thread) {
    (*static_cast<const Work*>(work))(thread);
  }
  void run(Call call, const void* work);
  /// Sees that OpenMP's pool has all threads, since it ends the process where it cannot start one.
  void start() const;

  std::vector<int> processors_;
  std::vector<PaddedTerm> terms_;
  std::thread::id owner_;
  /// Processors of the host thread before it was pinned; empty when nothing was pinned.
  std::vector<int> processors_before_;
  int team_size_before_;
};

}  // namespace bench::cpu

#include "kernels/cpu/thread_team.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <latch>
#include <utility>

#include "kernels/cpu/affinity.h"
#include "models/base/errors.h"
#include "models/base/threads.h"

namespace bench::cpu {
ThreadTeam::ThreadTeam(std::vector<int> processors, bool pin)
    : processors_(std::move(processors)),
      terms_(processors_.size()),
      owner_(std::this_thread::get_id()),
      team_size_before_(omp_get_max_threads()) {
  if (processors_.empty()) {
    throw UsageError("a thread team needs at least one processor; none was given");
  }
  for (const int processor : processors_) {
    if (processor < 0 || processor >= CPU_SETSIZE) {
      throw DeviceError(
          fmt::format("processor {} was given; accepted: 0 to {}", processor, CPU_SETSIZE - 1));
    }
  }
  if (size() > most_threads()) {
    throw UsageError(fmt::format("{} threads were requested, but OMP_THREAD_LIMIT allows only {}",
                                 size(), most_threads()));
  }
  std::vector<int> before;
  if (pin) {
    before = allowed_processors();
    for (const int processor : processors_) {
      if (std::find(before.begin(), before.end(), processor) == before.end()) {
        throw DeviceError(
            fmt::format("processor {} was given, but this process may not use it", processor));
      }
    }
  }
  omp_set_dynamic(0);
  // With OMP_MAX_ACTIVE_LEVELS=0 every team would be only the calling thread.
  omp_set_max_active_levels(std::max(1, omp_get_max_active_levels()));
  omp_set_num_threads(size());
  try {
    start();
  } catch (...) {
    omp_set_num_threads(team_size_before_);
    throw;
  }
  if (pin) {
    processors_before_ = std::move(before);
    std::atomic<int> failed = 0;
    parallel([&](int thread) {
      const int status = allow_processors({processors_[static_cast<std::size_t>(thread)]});
      if (status != 0) {
        failed = status;
      }
    });
    if (failed != 0) {
      parallel([&](int) { static_cast<void>(allow_processors(processors_before_)); });
      omp_set_num_threads(team_size_before_);
      throw DeviceError(fmt::format("pthread_setaffinity_np: {}", std::strerror(failed)));
    }
  }
}

// Work cannot throw here: it runs on the owner's thread, as the first line ensures.
ThreadTeam::~ThreadTeam() {  // NOLINT(bugprone-exception-escape)
  if (std::this_thread::get_id() != owner_) {
    return;
  }
  if (!processors_before_.empty()) {
    parallel([&](int) { static_cast<void>(allow_processors(processors_before_)); });
  }
  omp_set_num_threads(team_size_before_);
}

int ThreadTeam::most_threads() { return omp_get_thread_limit(); }

void ThreadTeam::start() const {
  {
    // Keeps all threads of the pool alive at the same time.
    std::latch all(size());
    std::vector<std::jthread> trial;
    try {
      for (int i = 1; i < size(); ++i) {
        trial.push_back(start_thread([&all] { all.arrive_and_wait(); }));
      }
    } catch (...) {
      all.count_down(size() - static_cast<int>(trial.size()));
      throw;
    }
    all.count_down();
  }
  int delivered = 0;
#pragma omp parallel num_threads(size())
#pragma omp single
  delivered = omp_get_num_threads();
  if (delivered != size()) {
    throw DeviceError(
        fmt::format("{} threads were requested, but OpenMP started {}", size(), delivered));
  }
}

void ThreadTeam::run(Call call, const void* work) {
  check(std::this_thread::get_id() == owner_,
        "thread team: used on a host thread other than the one that created it");
  const int threads = size();
  if (threads == 1) {
    call(work, 0);
    return;
  }
  int delivered = 0;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    if (thread == 0) delivered = omp_get_num_threads();
    call(work, thread);
  }
  check(delivered == threads,
        "thread team: OpenMP started another number of threads than at first");
}

Range ThreadTeam::split(std::int64_t count, int parts, int part, std::int64_t grain) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t each = grains / parts;
  const std::int64_t more = grains % parts;
  const std::int64_t first = part * each + std::min<std::int64_t>(part, more);
  const std::int64_t last = first + each + (part < more ? 1 : 0);
  return {.begin = std::min(first * grain, count), .end = std::min(last * grain, count)};
}

}  // namespace bench::cpu

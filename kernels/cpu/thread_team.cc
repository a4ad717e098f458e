#include "kernels/cpu/thread_team.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// Lets the calling thread run on these processors only; returns 0 or an errno value.
int allow(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    CPU_SET(static_cast<std::size_t>(processor), &set);
  }
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

std::vector<int> allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int status = pthread_getaffinity_np(pthread_self(), sizeof(set), &set);
  if (status != 0) {
    throw DeviceError(cat("pthread_getaffinity_np: ", std::strerror(status)));
  }
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(static_cast<std::size_t>(processor), &set)) {
      processors.push_back(processor);
    }
  }
  return processors;
}

}  // namespace

ThreadTeam::ThreadTeam(std::vector<int> processors, bool pin)
    : processors_(std::move(processors)),
      terms_(processors_.size()),
      owner_(std::this_thread::get_id()),
      team_size_before_(omp_get_max_threads()) {
  if (processors_.empty()) {
    throw UsageError("a thread team needs at least one processor, none was given");
  }
  for (const int processor : processors_) {
    if (processor < 0 || processor >= CPU_SETSIZE) {
      throw DeviceError(
          cat("processor ", processor, " was given, accepted are 0 to ", CPU_SETSIZE - 1));
    }
  }
  std::vector<int> before;
  if (pin) {
    before = allowed();
    for (const int processor : processors_) {
      if (std::find(before.begin(), before.end(), processor) == before.end()) {
        throw DeviceError(
            cat("processor ", processor, " was given, but this process may not use it"));
      }
    }
  }
  omp_set_dynamic(0);
  omp_set_num_threads(size());
  if (pin) {
    processors_before_ = std::move(before);
    std::atomic<int> failed = 0;
    parallel([&](int thread) {
      const int status = allow({processors_[static_cast<std::size_t>(thread)]});
      if (status != 0) {
        failed = status;
      }
    });
    if (failed != 0) {
      parallel([&](int) { static_cast<void>(allow(processors_before_)); });
      omp_set_num_threads(team_size_before_);
      throw DeviceError(cat("pthread_setaffinity_np: ", std::strerror(failed)));
    }
  }
}

// Work throws nowhere here: it runs on the owner's thread, as the first line makes sure.
ThreadTeam::~ThreadTeam() {  // NOLINT(bugprone-exception-escape)
  if (std::this_thread::get_id() != owner_) {
    return;
  }
  if (!processors_before_.empty()) {
    parallel([&](int) { static_cast<void>(allow(processors_before_)); });
  }
  omp_set_num_threads(team_size_before_);
}

void ThreadTeam::run(Call call, const void* work) {
  check(std::this_thread::get_id() == owner_,
        "thread team: used on another host thread than the one that made it");
  const int threads = size();
  if (threads == 1) {
    call(work, 0);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    // OpenMP may deliver fewer threads than asked (OMP_THREAD_LIMIT): no part may get lost.
    const int delivered = omp_get_num_threads();
    for (int part = omp_get_thread_num(); part < threads; part += delivered) {
      call(work, part);
    }
  }
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

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "kernels/backend.h"

namespace bench::reference {

/// The threads and the scratch memory of a computation. The work is divided into parts
/// independently of the number of threads, and so are the results.
class Crew {
 public:
  /// `scratch` has `scratch_elements` for each thread.
  Crew(const HostThreads& threads, double* scratch, std::int64_t scratch_elements)
      : threads_(threads), scratch_(scratch), scratch_elements_(scratch_elements) {}

  /// Calls visit(i, scratch) for i = 0..count-1, in any order and concurrently, each with the
  /// scratch memory of its thread. Rethrows an exception of a call.
  template <class Visit>
  void for_each(std::int64_t count, const Visit& visit) const {
    if (threads_.count == 1 || count <= 1) {
      for (std::int64_t i = 0; i < count; ++i) {
        visit(i, scratch_);
      }
      return;
    }
    std::atomic<std::int64_t> next = 0;
    std::exception_ptr failure;
    std::mutex failing;
    threads_.run([&](int thread) {
      try {
        for (std::int64_t i = next++; i < count; i = next++) {
          visit(i, scratch_ + thread * scratch_elements_);
        }
      } catch (...) {
        const std::lock_guard lock(failing);
        failure = std::current_exception();
      }
    });
    if (failure) {
      std::rethrow_exception(failure);
    }
  }

  /// Calls visit(begin, count) for ranges of the elements 0..elements-1.
  template <class Visit>
  void for_each_range(std::int64_t elements, const Visit& visit) const {
    constexpr std::int64_t kRange = std::int64_t{1} << 15;
    for_each((elements + kRange - 1) / kRange, [&](std::int64_t i, double*) {
      visit(i * kRange, std::min(kRange, elements - i * kRange));
    });
  }

 private:
  const HostThreads& threads_;
  double* scratch_;
  std::int64_t scratch_elements_;
};

/// Calls visit(n, c) concurrently for each plane of a NxCxHxW tensor.
template <class Visit>
void for_each_plane(const Shape& shape, const Crew& crew, const Visit& visit) {
  crew.for_each(shape[0] * shape[1],
                [&](std::int64_t i, double*) { visit(i / shape[1], i % shape[1]); });
}

}  // namespace bench::reference

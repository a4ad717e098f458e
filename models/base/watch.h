#pragma once

#include <cstdint>
#include <functional>

namespace bench {

/// Long work calls this between two of its parts, on the caller's thread: `done` of `total` parts
/// are finished. An exception from it ends the work. May be empty.
using Watch = std::function<void(std::int64_t done, std::int64_t total)>;

inline void tell(const Watch& watch, std::int64_t done, std::int64_t total) {
  if (watch) {
    watch(done, total);
  }
}

}  // namespace bench

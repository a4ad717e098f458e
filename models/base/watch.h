#pragma once

#include <cstdint>
#include <functional>

namespace bench {

/// What long work calls between two of its parts, in the thread that asked for the work: `done` of
/// `total` parts are over. What it throws ends the work. Empty: nobody watches.
using Watch = std::function<void(std::int64_t done, std::int64_t total)>;

inline void tell(const Watch& watch, std::int64_t done, std::int64_t total) {
  if (watch) {
    watch(done, total);
  }
}

}  // namespace bench

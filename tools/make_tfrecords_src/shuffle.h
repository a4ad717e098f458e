#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/base/philox.h"

namespace bench {

/// A random order that is the same on each run.
template <class T>
void shuffle(std::vector<T>& items, RandomStream random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(static_cast<std::uint32_t>(i))]);
  }
}

}  // namespace bench

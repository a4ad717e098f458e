#pragma once

#include <cstdint>
#include <optional>

#include "models/base/philox.h"
#include "models/ir/graph.h"

namespace bench {

/// The whole numbers from `least` to `bound` - 1, with a probability of 1 / `one_of`; else 0.
struct NumberRange {
  std::uint32_t least = 0;
  std::uint32_t bound = 0;
  std::uint32_t one_of = 1;

  [[nodiscard]] std::int32_t draw(RandomStream& random) const;
};

/// The whole numbers that the value can have: the rows of the table that it selects from, or what a
/// loss other than cross-entropy accepts. With a CTC loss, all labels and all frames count, and the
/// last class is the blank. With a multibox loss, most anchors are background. Empty for other
/// values.
std::optional<NumberRange> number_range(const Graph& graph, ValueId value);

}  // namespace bench

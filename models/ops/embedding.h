#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

/// (table[V,E], ids s32[...]) -> y[...,E]: the rows of the table with these numbers, 0 to V - 1.
/// The ids have 1 to 3 axes.
extern const OpDef kEmbedding;

struct EmbeddingBackwardAttributes {
  /// V.
  std::int64_t rows = 0;
  /// Nothing but this node writes dtable's memory between two runs. So it need not set rows to 0
  /// that are 0 already.
  bool sparse = false;
  bool operator==(const EmbeddingBackwardAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const EmbeddingBackwardAttributes& attributes);

/// (dy[...,E], ids) -> dtable[V,E], f32 if dy has 16 bits. A row is the sum of dy over the places
/// of its id, in their order, or 0 without places.
extern const OpDef kEmbeddingBackward;

}  // namespace bench

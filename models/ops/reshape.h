#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct ReshapeAttributes {
  Shape shape;
  bool operator==(const ReshapeAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ReshapeAttributes& attributes);

/// (x) -> y of that shape, with the same elements in canonical order.
extern const OpDef kReshape;

}  // namespace bench

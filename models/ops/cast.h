#pragma once

#include <iosfwd>

#include "models/base/dtype.h"
#include "models/ir/op.h"

namespace bench {

struct CastAttributes {
  DType to = DType::f32;
  bool operator==(const CastAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const CastAttributes& attributes);

/// (x) -> x as another floating type, to nearest. The gradient is converted to x's type, unless it
/// already has that type: filters' gradients are f32, whatever the filters are.
extern const OpDef kCast;

}  // namespace bench

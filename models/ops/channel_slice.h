#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

struct ChannelSliceAttributes {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  bool operator==(const ChannelSliceAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ChannelSliceAttributes& attributes);

/// (x[N,C,H,W] or x[N,C]) -> channels begin .. begin + count - 1 of x.
extern const OpDef kChannelSlice;

/// How many channels of zeros come before and after.
struct ChannelPadAttributes {
  std::int64_t before = 0;
  std::int64_t after = 0;
  bool operator==(const ChannelPadAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ChannelPadAttributes& attributes);

/// (x[N,C,H,W] or x[N,C]) -> y[N,before+C+after,H,W], x with zeros around its channels.
extern const OpDef kChannelPad;

}  // namespace bench

#pragma once

namespace bench {

/// Converts a pixel's channel, 0 to 255, to a network's input: (pixel - mean) / deviation. The
/// default, used for all datasets, gives -1 to 1.
struct Normalization {
  float mean = 127.5F;
  float deviation = 127.5F;
  bool operator==(const Normalization&) const = default;
};

}  // namespace bench

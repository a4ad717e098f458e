#pragma once

namespace bench {

/// What makes of a channel of a pixel, 0 to 255, what networks read: (pixel - mean) / deviation.
/// The default is that of all datasets, from -1 to 1.
struct Normalization {
  float mean = 127.5F;
  float deviation = 127.5F;
  bool operator==(const Normalization&) const = default;
};

}  // namespace bench

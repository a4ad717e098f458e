#pragma once

#include <cstdint>

namespace bench {

/// Images of a training set: of the 1000 classes of ILSVRC 2012 (Russakovsky et al.,
/// arXiv:1409.0575), of CIFAR-10 (Krizhevsky, 2009).
inline constexpr std::int64_t kImagenetTrainingImages = 1281167;
inline constexpr std::int64_t kCifarTrainingImages = 50000;

}  // namespace bench

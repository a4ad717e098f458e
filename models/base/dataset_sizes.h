#pragma once

#include <cstdint>

namespace bench {

/// Images of a training set: of the 1000 classes of ILSVRC 2012 (Russakovsky et al.,
/// arXiv:1409.0575), of CIFAR-10 (Krizhevsky, 2009).
inline constexpr std::int64_t kImagenetTrainingImages = 1281167;
inline constexpr std::int64_t kCifarTrainingImages = 50000;

/// Sequences of 35 words of the Penn Treebank as Mikolov divided it: 929,589 words to train with
/// and 73,760 to validate (Zaremba et al., arXiv:1409.2329).
inline constexpr std::int64_t kPtbTrainingSequences = 929589 / 35;
inline constexpr std::int64_t kPtbValidationSequences = 73760 / 35;

}  // namespace bench

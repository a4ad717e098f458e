#pragma once

#include <cstdint>

namespace bench {

/// Images of a training set: of the 1000 classes of ILSVRC 2012 (Russakovsky et al.,
/// arXiv:1409.0575), of CIFAR-10 (Krizhevsky, 2009).
inline constexpr std::int64_t kImagenetTrainingImages = 1281167;
inline constexpr std::int64_t kCifarTrainingImages = 50000;

/// COCO 2017 (Lin et al., arXiv:1405.0312). Only images with objects are validated.
inline constexpr std::int64_t kCocoTrainingImages = 118287;
inline constexpr std::int64_t kCocoValidationImages = 4952;

/// Sequences of 35 words of the Penn Treebank as Mikolov divided it: 929,589 words to train with
/// and 73,760 to validate (Zaremba et al., arXiv:1409.2329).
inline constexpr std::int64_t kPtbTrainingSequences = 929589 / 35;
inline constexpr std::int64_t kPtbValidationSequences = 73760 / 35;

/// MovieLens 20M (Harper and Konstan, 2015): users and films (the items) are
/// numbered from 0. As in MLPerf, one of each user's ratings is reserved for validation, among 999
/// films that the user did not rate; in training, 4 such films follow each rating.
inline constexpr std::int64_t kMovielensUsers = 138493;
inline constexpr std::int64_t kMovielensItems = 26744;
inline constexpr std::int64_t kMovielensTrainingPairs = (20000263 - kMovielensUsers) * (1 + 4);
inline constexpr std::int64_t kMovielensValidationPairs = kMovielensUsers * 1000;

}  // namespace bench

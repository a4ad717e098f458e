#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

/// Classes of characters; 0 is a space.
using Transcript = std::vector<std::int32_t>;

/// The transcript of the first `frames` frames, each with its most probable class (Graves et al.,
/// 2006, section 3.2). Repeated classes become one, and then blanks, the last class, are dropped.
/// The logits have a row of `classes` per frame.
Transcript decode_greedily(std::span<const float> logits, std::size_t classes, std::size_t frames);

/// The words between the spaces.
std::vector<Transcript> words_of(const Transcript& transcript);

/// The least number of insertions, deletions and substitutions that change one sequence into the
/// other (Levenshtein, 1966).
double edit_distance(const Transcript& from, const Transcript& to);
double edit_distance(const std::vector<Transcript>& from, const std::vector<Transcript>& to);

}  // namespace bench

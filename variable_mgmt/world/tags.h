#pragma once

/// The kinds of messages between processes.
namespace bench::tag {

inline constexpr int kBeat = 1;
inline constexpr int kTextSize = 2;
inline constexpr int kText = 3;
/// Parts of gradients, to the rank that adds them, and their sums. All-reduce N uses tag
/// kFirstPart + 2 * (N modulo kPartTags), and the next tag for its sums.
inline constexpr int kFirstPart = 16;
inline constexpr int kPartTags = 1024;

}  // namespace bench::tag

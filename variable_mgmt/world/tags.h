#pragma once

/// The kinds of messages between processes.
namespace bench::tag {

inline constexpr int kBeat = 1;
inline constexpr int kTextSize = 2;
inline constexpr int kText = 3;
/// A worker's requests to a parameter server, their contents, and the server's replies.
inline constexpr int kRequest = 4;
inline constexpr int kContents = 5;
inline constexpr int kReply = 6;
inline constexpr int kValues = 7;
/// Messages whose time is measured.
inline constexpr int kTrial = 8;
/// Parts of gradients, to the rank that adds them, and their sums. All-reduce N uses tag
/// kFirstPart + 2 * (N modulo kPartTags), and the next tag for its sums.
inline constexpr int kFirstPart = 16;
inline constexpr int kPartTags = 1024;

}  // namespace bench::tag

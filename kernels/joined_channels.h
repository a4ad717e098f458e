#pragma once

#include <cstdint>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/candidates.h"

namespace bench {

/// A part of the output of a concat, channel_slice or channel_pad: the channels of an input from
/// `begin` on, or zeros.
struct ChannelRun {
  static constexpr int kZeros = -1;
  int input = kZeros;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
/// The parts in order.
std::vector<ChannelRun> channel_runs(const Graph& graph, const Node& node);

/// A tensor as rows, in which each run of channels is contiguous.
struct ChannelRows {
  std::int64_t count = 0;
  /// Elements of a channel in a row.
  std::int64_t per_channel = 0;
};
ChannelRows channel_rows(const Shape& shape, const Layout& layout);

/// Such a node as rows of parts. All its tensors have one layout.
class JoinedChannels {
 public:
  JoinedChannels(const Graph& graph, const Node& node, const Layout& layout);
  [[nodiscard]] const std::vector<RowPart>& parts() const { return parts_; }
  /// The arguments for a launch. They refer to this object until the next call.
  JoinRows bind(const LaunchTensors& launch);

 private:
  DType dtype_;
  std::int64_t rows_;
  std::vector<RowPart> parts_;
  /// The first byte of each part, from the beginning of its input.
  struct Source {
    int input = ChannelRun::kZeros;
    std::int64_t offset = 0;
  };
  std::vector<Source> sources_;
};

}  // namespace bench

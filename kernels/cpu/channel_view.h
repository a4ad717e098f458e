#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// The memory layout of a dense tensor of batch x channels x spatial elements:
/// nchw is [N][C][S]; nhwc is [N][S][C]; blocked is [N][ceil(C / block)][S][block].
/// Padded channels hold zeros; kernels read them as zeros and keep them zero. [N][C] is nhwc with
/// spatial 1.
struct ChannelView {
  enum class Kind : std::uint8_t { nchw, nhwc, blocked };
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  /// H * W.
  std::int64_t spatial = 1;
  Kind kind = Kind::nhwc;
  /// Channels per block (at most kLargestBlock). Other kinds use it only where documented.
  int block = 16;

  static constexpr int kLargestBlock = 64;
  /// Channels in memory, padding included.
  [[nodiscard]] std::int64_t padded_channels() const;
  /// Elements in memory, padding included.
  [[nodiscard]] std::int64_t elements() const;
};

/// Consecutive rows of one sample and group.
struct Piece {
  std::int64_t group = 0;
  /// Offset of the first element, in elements.
  std::int64_t offset = 0;
  std::int64_t rows = 0;
};

/// The single form in which kernels traverse every view. Element (n, group, row, column) is at
///   ((n * groups + group) * rows + row) * width + column;
/// its channel is group * width + column. nhwc is one group as wide as the channels. Blocked has
/// one group per block. nchw has one group per channel and width 1, so that its rows are single
/// contiguous elements ("plane").
struct ChannelTiling {
  std::int64_t batch = 0;
  std::int64_t groups = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  /// Joins batch and space if they are contiguous (nhwc), so that batch may be 1: for kernels that
  /// treat all samples alike. Throws InternalError for a view with a negative extent or a block
  /// outside 1..kLargestBlock.
  static ChannelTiling joined(const ChannelView& view);
  /// Keeps samples apart.
  static ChannelTiling by_sample(const ChannelView& view);

  [[nodiscard]] std::int64_t group_rows() const { return batch * rows; }
  [[nodiscard]] std::int64_t all_rows() const { return groups * group_rows(); }
  [[nodiscard]] std::int64_t padded_channels() const { return groups * width; }
  /// Rows row..row+count-1 of a sample and group.
  [[nodiscard]] Piece piece(std::int64_t group, std::int64_t sample, std::int64_t row,
                            std::int64_t count) const {
    return {
        .group = group, .offset = ((sample * groups + group) * rows + row) * width, .rows = count};
  }
  /// The granularity at which threads may split: whole cache lines of elements.
  [[nodiscard]] std::int64_t row_grain() const { return width >= 16 ? 1 : 16 / width; }
};

/// Rows are numbered by group, then by sample. Calls visit(piece) for the rows of `range`, in
/// order, in pieces of at most `most_rows`.
template <class Visit>
void for_each_piece(const ChannelTiling& tiling, Range range, std::int64_t most_rows,
                    const Visit& visit) {
  if (range.count() <= 0) {
    return;
  }
  // Incremented instead of divided again, because there are many small pieces.
  std::int64_t row = range.begin % tiling.rows;
  std::int64_t sample = range.begin / tiling.rows % tiling.batch;
  std::int64_t group = range.begin / tiling.group_rows();
  for (std::int64_t left = range.count(); left > 0;) {
    const std::int64_t take = std::min({left, tiling.rows - row, most_rows});
    visit(tiling.piece(group, sample, row, take));
    left -= take;
    row += take;
    if (row == tiling.rows) {
      row = 0;
      sample = sample + 1 == tiling.batch ? 0 : sample + 1;
      group += sample == 0 ? 1 : 0;
    }
  }
}

/// The same from the last row to the first. A second pass that runs backwards finds the end of the
/// first one in the caches.
template <class Visit>
void for_each_piece_backwards(const ChannelTiling& tiling, Range range, std::int64_t most_rows,
                              const Visit& visit) {
  if (range.count() <= 0) {
    return;
  }
  const std::int64_t last = range.end - 1;
  std::int64_t end = last % tiling.rows + 1;
  std::int64_t sample = last / tiling.rows % tiling.batch;
  std::int64_t group = last / tiling.group_rows();
  for (std::int64_t left = range.count(); left > 0;) {
    const std::int64_t take = std::min({left, end, most_rows});
    visit(tiling.piece(group, sample, end - take, take));
    left -= take;
    end -= take;
    if (end == 0) {
      end = tiling.rows;
      group -= sample == 0 ? 1 : 0;
      sample = sample == 0 ? tiling.batch - 1 : sample - 1;
    }
  }
}

}  // namespace bench::cpu

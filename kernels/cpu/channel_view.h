#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// How a tensor of batch x channels x spatial elements lies in memory, dense:
/// nchw is [N][C][S], nhwc is [N][S][C], blocked is [N][ceil(C / block)][S][block], whose padded
/// channels hold zeros: kernels read them as zeros and keep them zero. [N][C] is nhwc of spatial 1.
struct ChannelView {
  enum class Kind : std::uint8_t { nchw, nhwc, blocked };
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  /// H * W.
  std::int64_t spatial = 1;
  Kind kind = Kind::nhwc;
  /// Channels per block (at most kLargestBlock); read for `blocked` only.
  int block = 16;

  static constexpr int kLargestBlock = 64;
  /// Channels in memory, padding included.
  [[nodiscard]] std::int64_t padded_channels() const;
  /// Elements in memory, padding included.
  [[nodiscard]] std::int64_t elements() const;
};

/// The one form in which kernels walk every view: element (n, group, row, column) lies at
/// ((n * groups + group) * rows + row) * width + column, and its channel is group * width + column.
/// nhwc is one group as wide as the channels; blocked has a group per block; nchw has a group per
/// channel and width 1, so that its rows are single elements in a line ("plane").
struct ChannelTiling {
  std::int64_t batch = 0;
  std::int64_t groups = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;

  /// Joins batch and space where they lie in one line (nhwc), so that batch may be 1: for kernels
  /// that treat all samples alike. Throws InternalError for a view with a negative extent or a
  /// block outside 1..kLargestBlock.
  static ChannelTiling joined(const ChannelView& view);
  /// Keeps samples apart.
  static ChannelTiling by_sample(const ChannelView& view);

  [[nodiscard]] std::int64_t group_rows() const { return batch * rows; }
  [[nodiscard]] std::int64_t all_rows() const { return groups * group_rows(); }
  [[nodiscard]] std::int64_t padded_channels() const { return groups * width; }
  /// Where threads may cut: whole cache lines of elements.
  [[nodiscard]] std::int64_t row_grain() const { return width >= 16 ? 1 : 16 / width; }
};

/// Consecutive rows of one sample and group.
struct Piece {
  std::int64_t sample = 0;
  std::int64_t group = 0;
  /// Of the first element, in elements.
  std::int64_t offset = 0;
  std::int64_t rows = 0;
};

namespace internal {
inline Piece piece_at(const ChannelTiling& tiling, std::int64_t row, std::int64_t rows) {
  const std::int64_t group = row / tiling.group_rows();
  const std::int64_t in_group = row % tiling.group_rows();
  const std::int64_t sample = in_group / tiling.rows;
  const std::int64_t in_sample = in_group % tiling.rows;
  const std::int64_t line = (sample * tiling.groups + group) * tiling.rows + in_sample;
  return {.sample = sample, .group = group, .offset = line * tiling.width, .rows = rows};
}
}  // namespace internal

/// Rows are numbered group by group, within a group sample by sample. Calls visit(piece) for the
/// rows of `range`, in order, in pieces of at most `most_rows`.
template <class Visit>
void for_each_piece(const ChannelTiling& tiling, Range range, std::int64_t most_rows,
                    const Visit& visit) {
  for (std::int64_t row = range.begin; row < range.end;) {
    const std::int64_t sample_end = (row / tiling.rows + 1) * tiling.rows;
    std::int64_t end = sample_end < range.end ? sample_end : range.end;
    end = end - row < most_rows ? end : row + most_rows;
    visit(internal::piece_at(tiling, row, end - row));
    row = end;
  }
}

/// The same from the last row to the first: a second pass that runs backwards meets what the first
/// one left in the caches.
template <class Visit>
void for_each_piece_backwards(const ChannelTiling& tiling, Range range, std::int64_t most_rows,
                              const Visit& visit) {
  for (std::int64_t end = range.end; end > range.begin;) {
    const std::int64_t sample_begin = (end - 1) / tiling.rows * tiling.rows;
    std::int64_t row = sample_begin > range.begin ? sample_begin : range.begin;
    row = end - row < most_rows ? row : end - most_rows;
    visit(internal::piece_at(tiling, row, end - row));
    end = row;
  }
}

}  // namespace bench::cpu

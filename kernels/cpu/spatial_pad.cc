#include "kernels/cpu/spatial_pad.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/cpu/element.h"

namespace bench::cpu {
namespace {

/// A line of y: `left` zeros, `copied` elements of a line of x from `from` on, `right` zeros.
struct Line {
  std::int64_t from = 0;
  std::int64_t left = 0;
  std::int64_t copied = 0;
  std::int64_t right = 0;
  [[nodiscard]] std::int64_t width() const { return left + copied + right; }
};

/// In pixels of `inner` elements each.
Line line_of(std::int64_t width, std::int64_t before, std::int64_t after, std::int64_t inner) {
  const std::int64_t y_width = width + before + after;
  const std::int64_t from = std::max<std::int64_t>(0, -before);
  const std::int64_t left = std::clamp<std::int64_t>(before, 0, y_width);
  const std::int64_t copied = std::clamp<std::int64_t>(width - from, 0, y_width - left);
  return {.from = from * inner,
          .left = left * inner,
          .copied = copied * inner,
          .right = (y_width - left - copied) * inner};
}

/// Lines are numbered in the order of memory.
void pad_lines(const SpatialPad& args, const Line& line, std::int64_t x_width, Range lines) {
  const std::int64_t y_height = args.height + args.pad.before[0] + args.pad.after[0];
  std::int64_t plane = lines.begin / y_height;
  std::int64_t h = lines.begin % y_height;
  const auto bytes = [&](std::int64_t count) { return bytes_of(count, args.dtype); };
  auto* y = static_cast<std::byte*>(element(args.y, args.dtype, lines.begin * line.width()));
  for (std::int64_t i = lines.begin; i < lines.end; ++i) {
    const std::int64_t from_h = h - args.pad.before[0];
    if (from_h < 0 || from_h >= args.height || line.copied == 0) {
      std::memset(y, 0, bytes(line.width()));
    } else {
      const void* const x =
          element(args.x, args.dtype, (plane * args.height + from_h) * x_width + line.from);
      std::memset(y, 0, bytes(line.left));
      std::memcpy(y + bytes(line.left), x, bytes(line.copied));
      std::memset(y + bytes(line.left + line.copied), 0, bytes(line.right));
    }
    y += bytes(line.width());
    h = h + 1 == y_height ? 0 : h + 1;
    plane += h == 0 ? 1 : 0;
  }
}

}  // namespace

void spatial_pad(ThreadTeam& team, const SpatialPad& args) {
  // One pixel of nchw and nhwc are the same, so that a tiling takes it for nhwc; its padding is
  // not.
  ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  if (args.view.kind == ChannelView::Kind::nchw) {
    tiling.groups = args.view.channels;
    tiling.width = 1;
  }
  const std::int64_t y_height = args.height + args.pad.before[0] + args.pad.after[0];
  const Line line =
      line_of(args.width, args.pad.before[1], args.pad.after[1], /*inner=*/tiling.width);
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / line.width());
  team.for_ranges(tiling.batch * tiling.groups * y_height, grain,
                  [&](Range lines) { pad_lines(args, line, args.width * tiling.width, lines); });
}

}  // namespace bench::cpu

#include "kernels/cuda/gpu/spatial_pad.h"

#include <algorithm>

#include "kernels/cuda/gpu/unit_rows.h"

namespace bench::cuda {
namespace {

/// The lines of images of equal height, in units.
struct Lines {
  std::int64_t x_width;
  std::int64_t x_height;
  /// Zero lines before x's lines; if negative, lines of x to skip.
  std::int64_t above;
  /// The zeros at the start of a line of y, the number of x's units that follow, and their offset
  /// in x.
  std::int64_t left;
  std::int64_t copied;
  std::int64_t from;
};

template <class Unit>
__global__ void spatial_pad_kernel(Lines lines, std::int64_t y_lines, Divisor y_height,
                                   Divisor y_width, const Unit* __restrict__ x,
                                   Unit* __restrict__ y) {
  for_units_of_lane(y_lines, y_width, [&](std::int64_t line, unsigned place) {
    const Divisor::Split plane = y_height.split(line);
    const std::int64_t from_line = std::int64_t{plane.remainder} - lines.above;
    const std::int64_t column = std::int64_t{place} - lines.left;
    const bool inside =
        from_line >= 0 && from_line < lines.x_height && column >= 0 && column < lines.copied;
    y[line * y_width.divisor() + place] =
        inside
            ? x[(plane.quotient * lines.x_height + from_line) * lines.x_width + lines.from + column]
            : Unit{};
  });
}

}  // namespace

void spatial_pad(cudaStream_t stream, const SpatialPad& args) {
  const bool by_pixel = args.view.order == Order::nhwc;
  const std::int64_t planes = by_pixel ? args.view.batch : args.view.batch * args.view.channels;
  const auto [above, before] = args.pad.before;
  const auto [below, after] = args.pad.after;
  const std::int64_t y_height = args.height + above + below;
  const std::int64_t y_width = args.width + before + after;
  const std::int64_t pixel =
      static_cast<std::int64_t>(size_of(args.dtype)) * (by_pixel ? args.view.channels : 1);
  const std::int64_t bytes = unit_bytes(args.width * pixel, before * pixel, after * pixel);
  const auto units = [&](std::int64_t pixels) { return pixels * pixel / bytes; };

  const std::int64_t from = std::max<std::int64_t>(0, -before);
  const std::int64_t left = std::clamp<std::int64_t>(before, 0, y_width);
  const Lines lines{.x_width = units(args.width),
                    .x_height = args.height,
                    .above = above,
                    .left = units(left),
                    .copied = units(std::clamp<std::int64_t>(args.width - from, 0, y_width - left)),
                    .from = units(from)};
  with_unit(bytes, [&](auto tag) {
    using Unit = typename decltype(tag)::type;
    launch(stream, shape_for_rows("spatial_pad", planes * y_height, units(y_width)),
           spatial_pad_kernel<Unit>, lines, planes * y_height, Divisor(y_height),
           Divisor(units(y_width)), static_cast<const Unit*>(args.x), static_cast<Unit*>(args.y));
  });
}

}  // namespace bench::cuda

#include "kernels/cpu/depthwise_gradient.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/cpu/depthwise_row.h"
#include "kernels/cpu/element.h"
#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/depthwise_gradient.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Copies channels [0, channels) of contiguous pixels to rows of `block` floats; the rest are
/// zeros.
template <class T>
void widen_of(const T* from, std::int64_t pixel_step, std::int64_t pixels, std::int64_t channels,
              std::int64_t block, float* to) {
  const auto real = static_cast<std::size_t>(channels);
  for (std::int64_t i = 0; i < pixels; ++i, from += pixel_step, to += block) {
    sweep(real,
          [&](std::size_t c, auto lanes) HWY_ATTR { store(load(from + c, lanes), to + c, lanes); });
    std::fill(to + channels, to + block, 0.0F);
  }
}

void widen_pixels(DType dtype, const void* from, std::int64_t pixel_step, std::int64_t pixels,
                  std::int64_t channels, std::int64_t block, float* to) {
  with_element(dtype, [&](auto type) HWY_ATTR {
    widen_of(static_cast<const decltype(type)*>(from), pixel_step, pixels, channels, block, to);
  });
}

template <int kTaps>
void add_taps(const float* dy, const float* x, const DepthwiseRow& row, float* dw) {
  const auto block = static_cast<std::size_t>(row.block);
  sweep(block, [&](std::size_t c, auto lanes) HWY_ATTR {
    Vector first = load(dw + c, lanes);
    Vector second = load(dw + (kTaps > 1 ? block : 0) + c, lanes);
    Vector third = load(dw + (kTaps > 2 ? 2 * block : 0) + c, lanes);
    Vector fourth = load(dw + (kTaps > 3 ? 3 * block : 0) + c, lanes);
    const float* a = dy + c;
    const float* b = x + c;
    for (std::int64_t i = 0; i < row.pixels; ++i, a += block, b += row.x_step) {
      const Vector gradient = load(a, lanes);
      first = hn::MulAdd(gradient, load(b, lanes), first);
      if constexpr (kTaps > 1) {
        second = hn::MulAdd(gradient, load(b + block, lanes), second);
      }
      if constexpr (kTaps > 2) {
        third = hn::MulAdd(gradient, load(b + 2 * block, lanes), third);
      }
      if constexpr (kTaps > 3) {
        fourth = hn::MulAdd(gradient, load(b + 3 * block, lanes), fourth);
      }
    }
    store(first, dw + c, lanes);
    if constexpr (kTaps > 1) {
      store(second, dw + block + c, lanes);
    }
    if constexpr (kTaps > 2) {
      store(third, dw + 2 * block + c, lanes);
    }
    if constexpr (kTaps > 3) {
      store(fourth, dw + 3 * block + c, lanes);
    }
  });
}

void add_row(const float* dy, const float* x, const DepthwiseRow& row, float* dw) {
  std::int64_t tap = 0;
  for (; tap + 4 <= row.taps; tap += 4) {
    add_taps<4>(dy, x + tap * row.block, row, dw + tap * row.block);
  }
  x += tap * row.block;
  dw += tap * row.block;
  switch (row.taps - tap) {
    case 3:
      return add_taps<3>(dy, x, row, dw);
    case 2:
      return add_taps<2>(dy, x, row, dw);
    case 1:
      return add_taps<1>(dy, x, row, dw);
    default:
      return;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {
namespace {

HWY_EXPORT(widen_pixels);
HWY_EXPORT(add_row);

/// Pixels of x and dy in a strip: about 32 KiB of f32 in blocks of 16, unless one row of y needs
/// more.
constexpr std::int64_t kStripPixels = 512;

/// How one image of one block of channels is divided. Strips of x and dy are widened to f32, with
/// zeros next to the image, into buffers that stay in the nearest caches. So one loop serves all
/// layouts, types and edges.
struct Strips {
  std::int64_t taps = 0;
  std::int64_t blocks = 0;
  /// Columns of x that filters read, including the zeros next to the image.
  std::int64_t columns = 0;
  /// Rows of y per strip, and the rows of x under them.
  std::int64_t rows = 0;
  std::int64_t rows_under = 0;
};

void check_known(const DepthwiseGradient& args) {
  const bool has_pixels = args.height > 0 && args.width > 0 && args.out_height > 0 &&
                          args.out_width > 0 && args.view.spatial == args.height * args.width;
  const bool has_type =
      args.dtype == DType::f32 || args.dtype == DType::bf16 || args.dtype == DType::f16;
  check(args.view.kind != ChannelView::Kind::nchw && has_pixels && has_type &&
            args.window.dilation == std::array<std::int64_t, 2>{1, 1},
        "depthwise_gradient: unsupported layout, shape or type");
}

Strips strips_of(const DepthwiseGradient& args) {
  check_known(args);
  const Window& window = args.window;
  Strips strips;
  strips.taps = window.kernel[0] * window.kernel[1];
  strips.blocks = (args.view.channels + args.view.block - 1) / args.view.block;
  strips.columns = (args.out_width - 1) * window.stride[1] + window.kernel[1];
  const std::int64_t first_row = (window.kernel[0] - window.stride[0]) * strips.columns;
  const std::int64_t each_row = window.stride[0] * strips.columns + args.out_width;
  strips.rows = std::clamp<std::int64_t>((kStripPixels - first_row) / each_row, 1, args.out_height);
  strips.rows_under = (strips.rows - 1) * window.stride[0] + window.kernel[0];
  return strips;
}

/// Workspace offsets, in bytes: the sums of every thread over its images, then its buffers.
struct Workspace {
  std::size_t sums = 0;     // of one thread
  std::size_t buffers = 0;  // of one thread: x, dy and the sums of an image
  std::size_t dy = 0, image_sums = 0;
};

constexpr std::size_t kLine = 64;
std::size_t lines(std::int64_t count, std::size_t size) {
  return (static_cast<std::size_t>(count) * size + kLine - 1) / kLine * kLine;
}

Workspace workspace_of(const DepthwiseGradient& args, const Strips& strips) {
  const std::int64_t block = args.view.block;
  Workspace plan;
  plan.sums = lines(strips.blocks * strips.taps * block, sizeof(double));
  plan.dy = lines(strips.rows_under * strips.columns * block, sizeof(float));
  plan.image_sums = plan.dy + lines(strips.rows * args.out_width * block, sizeof(float));
  plan.buffers = plan.image_sums + lines(strips.taps * block, sizeof(float));
  return plan;
}

/// Pixels of one block of channels of one image.
struct Plane {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t pixel_step = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t block = 0;

  /// Pixels [column, column + count) of a row as floats.
  void widen(std::int64_t row, std::int64_t count, float* to) const {
    HWY_DYNAMIC_DISPATCH(widen_pixels)
    (dtype, element(data, dtype, row * width * pixel_step), pixel_step, count, channels, block, to);
  }
};

/// The work of one thread.
class Worker {
 public:
  Worker(const DepthwiseGradient& args, const Strips& strips, int thread, int threads)
      : args_(args), strips_(strips), block_(args.view.block) {
    const Workspace plan = workspace_of(args, strips);
    auto* const memory = static_cast<std::byte*>(args.workspace);
    const auto mine = static_cast<std::size_t>(thread);
    sums_ = reinterpret_cast<double*>(memory + mine * plan.sums);
    std::byte* const own =
        memory + static_cast<std::size_t>(threads) * plan.sums + mine * plan.buffers;
    x_ = reinterpret_cast<float*>(own);
    dy_ = reinterpret_cast<float*>(own + plan.dy);
    image_sums_ = reinterpret_cast<float*>(own + plan.image_sums);
  }

  void clear(Range blocks) {
    const std::int64_t values = strips_.taps * block_;
    std::fill(sums_ + blocks.begin * values, sums_ + blocks.end * values, 0.0);
  }

  void add_image(std::int64_t image, std::int64_t block) {
    const std::int64_t values = strips_.taps * block_;
    std::fill_n(image_sums_, values, 0.0F);
    const Plane x = plane_of(args_.x, args_.height, args_.width, image, block);
    const Plane dy = plane_of(args_.dy, args_.out_height, args_.out_width, image, block);
    for (std::int64_t row = 0; row < args_.out_height; row += strips_.rows) {
      const Range rows{row, std::min(row + strips_.rows, args_.out_height)};
      fetch_x(x, rows);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        dy.widen(i, args_.out_width, dy_ + (i - rows.begin) * args_.out_width * block_);
      }
      add_strip(rows.count());
    }
    double* const sums = sums_ + block * values;
    std::transform(sums, sums + values, image_sums_, sums,
                   [](double sum, float more) { return sum + static_cast<double>(more); });
  }

 private:
  Plane plane_of(const void* data, std::int64_t height, std::int64_t width, std::int64_t image,
                 std::int64_t block) const {
    const bool blocked = args_.view.kind == ChannelView::Kind::blocked;
    const std::int64_t channels = args_.view.channels;
    const std::int64_t pixels = height * width;
    const std::int64_t offset = blocked ? (image * strips_.blocks + block) * pixels * block_
                                        : image * pixels * channels + block * block_;
    return {.data = element(data, args_.dtype, offset),
            .dtype = args_.dtype,
            .pixel_step = blocked ? block_ : channels,
            .width = width,
            .channels = std::min(block_, channels - block * block_),
            .block = block_};
  }

  /// The rows of x under rows of y, with zeros around the image.
  void fetch_x(const Plane& x, Range rows) {
    const Window& window = args_.window;
    const std::int64_t first = rows.begin * window.stride[0] - window.pad_before[0];
    const std::int64_t count = (rows.count() - 1) * window.stride[0] + window.kernel[0];
    const std::int64_t left = std::min(window.pad_before[1], strips_.columns);
    const std::int64_t inside = std::min(args_.width, strips_.columns - left);
    float* to = x_;
    for (std::int64_t row = first; row < first + count; ++row, to += strips_.columns * block_) {
      if (row < 0 || row >= args_.height) {
        std::fill_n(to, strips_.columns * block_, 0.0F);
        continue;
      }
      std::fill_n(to, left * block_, 0.0F);
      x.widen(row, inside, to + left * block_);
      std::fill(to + (left + inside) * block_, to + strips_.columns * block_, 0.0F);
    }
  }

  void add_strip(std::int64_t rows) {
    const Window& window = args_.window;
    const DepthwiseRow row{.pixels = args_.out_width,
                           .x_step = window.stride[1] * block_,
                           .taps = window.kernel[1],
                           .block = block_};
    for (std::int64_t tap = 0; tap < window.kernel[0]; ++tap) {
      for (std::int64_t i = 0; i < rows; ++i) {
        HWY_DYNAMIC_DISPATCH(add_row)
        (dy_ + i * args_.out_width * block_,
         x_ + (i * window.stride[0] + tap) * strips_.columns * block_, row,
         image_sums_ + tap * window.kernel[1] * block_);
      }
    }
  }

  const DepthwiseGradient& args_;
  const Strips& strips_;
  std::int64_t block_;
  double* sums_ = nullptr;
  float* x_ = nullptr;
  float* dy_ = nullptr;
  float* image_sums_ = nullptr;
};

}  // namespace

std::size_t depthwise_gradient_workspace_bytes(const DepthwiseGradient& args, int threads) {
  const Workspace plan = workspace_of(args, strips_of(args));
  return static_cast<std::size_t>(threads) * (plan.sums + plan.buffers);
}

void depthwise_gradient(ThreadTeam& team, const DepthwiseGradient& args) {
  const Strips strips = strips_of(args);
  const std::int64_t batch = args.view.batch;
  // A thread has images of neighbouring blocks.
  const auto items_of = [&](int thread) {
    return ThreadTeam::split(strips.blocks * batch, team.size(), thread);
  };
  team.parallel([&](int thread) {
    Worker worker(args, strips, thread, team.size());
    const Range items = items_of(thread);
    if (items.count() > 0) {
      worker.clear({items.begin / batch, (items.end - 1) / batch + 1});
    }
    for (std::int64_t i = items.begin; i < items.end; ++i) {
      worker.add_image(i % batch, i / batch);
    }
  });
  const std::int64_t values = strips.taps * args.view.block;
  const auto stride = static_cast<std::int64_t>(workspace_of(args, strips).sums / sizeof(double));
  team.for_ranges(strips.blocks, /*grain=*/1, [&](Range blocks) {
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      // Threads with images of the block are consecutive.
      int first = 0;
      while (items_of(first).end <= block * batch) {
        ++first;
      }
      int end = first;
      while (end < team.size() && items_of(end).begin < (block + 1) * batch) {
        ++end;
      }
      for (std::int64_t i = block * values; i < (block + 1) * values; ++i) {
        double sum = 0;
        for (int thread = first; thread < end; ++thread) {
          sum += static_cast<const double*>(args.workspace)[thread * stride + i];
        }
        args.dw[i] = static_cast<float>(sum);
      }
    }
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE

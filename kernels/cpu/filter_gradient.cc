#include "kernels/cpu/filter_gradient.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/filter_gradient_rows.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

constexpr std::int64_t kTaps = 3;
constexpr std::int64_t kFilterRowFloats = kTaps * kPixelLanes * kPixelLanes;
constexpr std::int64_t kFilterFloats = kTaps * kFilterRowFloats;
/// The maximum number of pixels of one block of dy in a chunk, except for a longer row. Fewer cost
/// more loads and stores of the sums; more do not fit into the caches.
constexpr std::int64_t kChunkPixels = 400;
constexpr std::int64_t kNarrowest = 2;
constexpr std::int64_t kMostRows = kChunkPixels / kNarrowest;
constexpr std::int64_t kLargestGroup = 4;

std::int64_t ceil_div(std::int64_t count, std::int64_t part) { return (count + part - 1) / part; }

std::int64_t pairs_of(std::int64_t images) { return ceil_div(images, 2); }

/// In bf16, two images count as one.
std::int64_t images_of(const FilterGradientPlan& plan) {
  return plan.dtype == DType::bf16 ? pairs_of(plan.shape.batch) : plan.shape.batch;
}

/// Rows of x under rows of y, clipped to the image.
Range rows_under(const FilterGradientShape& shape, Range rows) {
  const std::int64_t begin = rows.begin * shape.stride - shape.pad_top;
  const std::int64_t end = (rows.end - 1) * shape.stride - shape.pad_top + kTaps;
  return {.begin = std::max<std::int64_t>(begin, 0), .end = std::min(end, shape.height)};
}

/// How far the last position of a filter extends beyond the image along one axis.
std::int64_t reach(std::int64_t out, std::int64_t stride, std::int64_t pad, std::int64_t extent) {
  return (out - 1) * stride - pad + kTaps - extent;
}

/// The blocks of x, and of y, in a task.
Range blocks_in(const FilterGradientPlan& plan, std::int64_t task) {
  const std::int64_t begin = task % plan.in_tasks * plan.group;
  return {.begin = begin, .end = std::min(begin + plan.group, plan.shape.in_blocks)};
}
Range blocks_out(const FilterGradientPlan& plan, std::int64_t task) {
  const std::int64_t begin = task / plan.in_tasks * plan.group;
  return {.begin = begin, .end = std::min(begin + plan.group, plan.shape.out_blocks)};
}

/// A chunk's images, or pairs of them, and rows of y.
struct Chunk {
  Range images;
  Range rows;
};

/// A blocked tensor of the batch.
struct Activations {
  const void* data = nullptr;
  std::int64_t blocks = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// The address of the rows of one block's images.
struct RowAddress {
  const std::byte* data = nullptr;
  std::int64_t first_image = 0;
  std::int64_t first_row = 0;
  std::int64_t image_bytes = 0;
  std::int64_t row_bytes = 0;

  [[nodiscard]] const std::byte* at(std::int64_t image, std::int64_t row) const {
    return data + (image - first_image) * image_bytes + (row - first_row) * row_bytes;
  }
};

RowAddress in_place(const Activations& from, std::int64_t block) {
  const std::int64_t row_bytes = from.width * kPixelBytes;
  return {.data = static_cast<const std::byte*>(from.data) + block * from.height * row_bytes,
          .image_bytes = from.blocks * from.height * row_bytes,
          .row_bytes = row_bytes};
}

/// Copies rows of pairs of a block's bf16 images to `to`, interleaved.
RowAddress packed(const Activations& from, std::int64_t batch, std::int64_t block, Range pairs,
                  Range rows, std::byte* to) {
  const std::int64_t row_lanes = from.width * kPixelLanes;
  const std::int64_t plane = from.height * row_lanes;
  const RowAddress address{.data = to,
                           .first_image = pairs.begin,
                           .first_row = rows.begin,
                           .image_bytes = rows.count() * from.width * kPixelBytes,
                           .row_bytes = from.width * kPixelBytes};
  for (std::int64_t pair = pairs.begin; pair < pairs.end; ++pair) {
    const std::uint16_t* const first = static_cast<const std::uint16_t*>(from.data) +
                                       (2 * pair * from.blocks + block) * plane +
                                       rows.begin * row_lanes;
    const bool has_second = 2 * pair + 1 < batch;
    pack_bf16_pixels(
        first, has_second ? first + from.blocks * plane : nullptr, rows.count() * from.width,
        reinterpret_cast<std::uint32_t*>(to + (pair - pairs.begin) * address.image_bytes));
  }
  return address;
}

/// The work of one thread.
class Worker {
 public:
  Worker(const FilterGradient& args, std::byte* workspace)
      : args_(args), plan_(args.plan), shape_(args.plan.shape), workspace_(workspace) {
    row_shape_ = {
        .out_width = shape_.out_width,
        .stride = shape_.stride,
        .first_is_cut = shape_.pad_left > 0,
        .last_is_cut = reach(shape_.out_width, shape_.stride, shape_.pad_left, shape_.width) > 0};
    x_ = {args.x, shape_.in_blocks, shape_.height, shape_.width};
    dy_ = {args.dy, shape_.out_blocks, shape_.out_height, shape_.out_width};
  }

  void run(std::int64_t task) {
    const Range ins = blocks_in(plan_, task);
    const Range outs = blocks_out(plan_, task);
    for (std::int64_t out = outs.begin; out < outs.end; ++out) {
      std::memset(filters(out, ins.begin), 0,
                  static_cast<std::size_t>(ins.count() * kFilterFloats) * sizeof(float));
    }
    const std::int64_t images = images_of(plan_);
    for (std::int64_t image = 0; image < images; image += plan_.chunk_images) {
      for (std::int64_t row = 0; row < shape_.out_height; row += plan_.chunk_rows) {
        add_chunk({.images = {image, std::min(image + plan_.chunk_images, images)},
                   .rows = {row, std::min(row + plan_.chunk_rows, shape_.out_height)}},
                  ins, outs);
      }
    }
  }

 private:
  [[nodiscard]] float* filters(std::int64_t out, std::int64_t in) const {
    return args_.dw + (out * shape_.in_blocks + in) * kFilterFloats;
  }

  void add_chunk(const Chunk& chunk, Range ins, Range outs) {
    const auto group = static_cast<std::size_t>(plan_.group);
    std::array<RowAddress, kLargestGroup> x;
    std::array<RowAddress, kLargestGroup> dy;
    std::byte* to = workspace_;
    for (std::int64_t in = ins.begin; in < ins.end; ++in, to += plan_.packed_x_bytes) {
      x[static_cast<std::size_t>(in - ins.begin)] =
          rows_of(x_, in, chunk.images, rows_under(shape_, chunk.rows), to);
    }
    to = workspace_ + group * plan_.packed_x_bytes;
    for (std::int64_t out = outs.begin; out < outs.end; ++out, to += plan_.packed_dy_bytes) {
      dy[static_cast<std::size_t>(out - outs.begin)] =
          rows_of(dy_, out, chunk.images, chunk.rows, to);
    }
    for (std::int64_t out = outs.begin; out < outs.end; ++out) {
      for (std::int64_t in = ins.begin; in < ins.end; ++in) {
        add_filters(chunk, x[static_cast<std::size_t>(in - ins.begin)],
                    dy[static_cast<std::size_t>(out - outs.begin)], filters(out, in));
      }
    }
  }

  [[nodiscard]] RowAddress rows_of(const Activations& from, std::int64_t block, Range images,
                                   Range rows, std::byte* to) const {
    return plan_.dtype == DType::f32 ? in_place(from, block)
                                     : packed(from, shape_.batch, block, images, rows, to);
  }

  void add_filters(const Chunk& chunk, const RowAddress& x, const RowAddress& dy, float* filter) {
    const auto add_rows =
        plan_.dtype == DType::f32 ? add_filter_gradient_f32 : add_filter_gradient_bf16;
    std::array<RowPair, kMostRows> rows;
    for (std::int64_t tap = 0; tap < kTaps; ++tap) {
      std::size_t count = 0;
      for (std::int64_t image = chunk.images.begin; image < chunk.images.end; ++image) {
        for (std::int64_t row = chunk.rows.begin; row < chunk.rows.end; ++row) {
          const std::int64_t under = row * shape_.stride + tap - shape_.pad_top;
          if (under >= 0 && under < shape_.height) {
            rows[count++] = {.dy = dy.at(image, row), .x = x.at(image, under)};
          }
        }
      }
      add_rows(row_shape_, {rows.data(), count}, filter + tap * kFilterRowFloats);
    }
  }

  const FilterGradient& args_;
  const FilterGradientPlan& plan_;
  const FilterGradientShape& shape_;
  std::byte* workspace_;
  RowShape row_shape_;
  Activations x_;
  Activations dy_;
};

/// The busiest thread's work, relative to an equal share.
double imbalance(const FilterGradientPlan& plan) {
  std::int64_t busiest = 0;
  for (int thread = 0; thread < plan.threads; ++thread) {
    const Range tasks = ThreadTeam::split(plan.in_tasks * plan.out_tasks, plan.threads, thread);
    std::int64_t filters = 0;
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
      filters += blocks_in(plan, task).count() * blocks_out(plan, task).count();
    }
    busiest = std::max(busiest, filters);
  }
  return static_cast<double>(busiest * plan.threads) /
         static_cast<double>(plan.shape.in_blocks * plan.shape.out_blocks);
}

/// Chooses the largest groups with little imbalance among the threads, or else the smallest.
void choose_group(FilterGradientPlan& plan) {
  constexpr double kNotLong = 1.05;
  plan.group = kLargestGroup;
  while (true) {
    plan.in_tasks = ceil_div(plan.shape.in_blocks, plan.group);
    plan.out_tasks = ceil_div(plan.shape.out_blocks, plan.group);
    plan.excess = imbalance(plan);
    if (plan.excess <= kNotLong || plan.group == 1) {
      return;
    }
    plan.group /= 2;
  }
}

bool knows(const FilterGradientShape& shape) {
  const auto knows_axis = [&](std::int64_t out, std::int64_t pad, std::int64_t extent) {
    return pad >= 0 && pad <= 1 && extent > 0 && reach(out, shape.stride, pad, extent) <= 1;
  };
  return shape.batch > 0 && (shape.stride == 1 || shape.stride == 2) && shape.out_height > 0 &&
         shape.out_width >= kNarrowest &&
         knows_axis(shape.out_height, shape.pad_top, shape.height) &&
         knows_axis(shape.out_width, shape.pad_left, shape.width);
}

}  // namespace

std::optional<FilterGradientPlan> plan_filter_gradient(const FilterGradientShape& shape,
                                                       DType dtype, int threads) {
  if ((dtype != DType::f32 && dtype != DType::bf16) || !knows(shape)) {
    return std::nullopt;
  }
  FilterGradientPlan plan{.shape = shape, .dtype = dtype, .threads = threads};
  choose_group(plan);
  plan.chunk_rows = std::clamp<std::int64_t>(kChunkPixels / shape.out_width, 1, shape.out_height);
  plan.chunk_images = std::clamp<std::int64_t>(kChunkPixels / (shape.out_width * shape.out_height),
                                               1, images_of(plan));
  check(plan.chunk_images * plan.chunk_rows <= kMostRows, "filter_gradient: too many rows");
  if (dtype == DType::bf16) {
    const auto bytes = [&](std::int64_t rows, std::int64_t width) {
      return static_cast<std::size_t>(plan.chunk_images * rows * width * kPixelBytes);
    };
    const std::int64_t under = std::min((plan.chunk_rows - 1) * shape.stride + kTaps, shape.height);
    plan.packed_x_bytes = bytes(under, shape.width);
    plan.packed_dy_bytes = bytes(plan.chunk_rows, shape.out_width);
    plan.workspace_bytes = static_cast<std::size_t>(threads * plan.group) *
                           (plan.packed_x_bytes + plan.packed_dy_bytes);
    plan.excess *=
        static_cast<double>(2 * pairs_of(shape.batch)) / static_cast<double>(shape.batch);
  }
  return plan;
}

void filter_gradient(ThreadTeam& team, const FilterGradient& args) {
  const FilterGradientPlan& plan = args.plan;
  check(team.size() == plan.threads, "filter_gradient: the plan is for a team of another size");
  const std::size_t share = plan.workspace_bytes / static_cast<std::size_t>(plan.threads);
  team.parallel([&](int thread) {
    Worker worker(
        args, static_cast<std::byte*>(args.workspace) + static_cast<std::size_t>(thread) * share);
    const Range tasks = ThreadTeam::split(plan.in_tasks * plan.out_tasks, plan.threads, thread);
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
      worker.run(task);
    }
  });
}

}  // namespace bench::cpu

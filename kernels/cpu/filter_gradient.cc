#include "kernels/cpu/filter_gradient.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/filter_gradient_rows.h"

namespace bench::cpu {
namespace {

constexpr std::int64_t kTaps = 3;
constexpr std::int64_t kFilterRowFloats = kTaps * kPixelWords * kPixelWords;
constexpr std::int64_t kFilterFloats = kTaps * kFilterRowFloats;
/// Of one block of dy. With those of x that is some 50 KiB, so that the first-level cache keeps the
/// one while the other comes from the second; fewer pay more for loading and storing the sums.
constexpr std::int64_t kChunkPixels = 400;
constexpr std::int64_t kNarrowest = 2;
constexpr std::int64_t kMostRows = kChunkPixels / kNarrowest;
constexpr std::int64_t kLargestGroup = 4;

std::int64_t ceil_div(std::int64_t count, std::int64_t part) { return (count + part - 1) / part; }

/// In bf16 two images are one.
std::int64_t images_of(const FilterGradientPlan& plan) {
  return plan.dtype == DType::bf16 ? ceil_div(plan.shape.batch, 2) : plan.shape.batch;
}

/// The blocks of x and of dy that a task has.
Range blocks_in(const FilterGradientPlan& plan, std::int64_t task) {
  const std::int64_t begin = task % plan.in_tasks * plan.group;
  return {.begin = begin, .end = std::min(begin + plan.group, plan.shape.in_blocks)};
}
Range blocks_out(const FilterGradientPlan& plan, std::int64_t task) {
  const std::int64_t begin = task / plan.in_tasks * plan.group;
  return {.begin = begin, .end = std::min(begin + plan.group, plan.shape.out_blocks)};
}

std::int64_t rows_under(const FilterGradientShape& shape, std::int64_t out_rows) {
  return (out_rows - 1) * shape.stride + kTaps;
}

/// Rows of one block's images, wherever they lie: row `row` of image `image` is at
/// data + (image - first_image) * image_words + (row - first_row) * row_words.
struct Lines {
  const std::uint32_t* data = nullptr;
  std::int64_t first_image = 0;
  std::int64_t first_row = 0;
  std::int64_t image_words = 0;
  std::int64_t row_words = 0;

  [[nodiscard]] const std::uint32_t* at(std::int64_t image, std::int64_t row) const {
    return data + (image - first_image) * image_words + (row - first_row) * row_words;
  }
};

/// Images [image, last_image) and output rows [row, last_row).
struct Chunk {
  std::int64_t image = 0, last_image = 0;
  std::int64_t row = 0, last_row = 0;
};

/// One of the two tensors.
struct Tensor {
  const void* data = nullptr;
  std::int64_t blocks = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

Lines in_place(const Tensor& tensor, std::int64_t block) {
  const std::int64_t row_words = tensor.width * kPixelWords;
  return {
      .data = static_cast<const std::uint32_t*>(tensor.data) + block * tensor.height * row_words,
      .image_words = tensor.blocks * tensor.height * row_words,
      .row_words = row_words};
}

/// Rows [first, last) of pairs of bf16 images, side by side.
Lines packed(const Tensor& tensor, std::int64_t block, std::int64_t batch, const Chunk& chunk,
             std::int64_t first, std::int64_t last, std::uint32_t* to) {
  const std::int64_t row_words = tensor.width * kPixelWords;
  const Lines lines{.data = to,
                    .first_image = chunk.image,
                    .first_row = first,
                    .image_words = (last - first) * row_words,
                    .row_words = row_words};
  const std::int64_t plane = tensor.height * row_words;
  const auto* const data = static_cast<const std::uint16_t*>(tensor.data);
  for (std::int64_t pair = chunk.image; pair < chunk.last_image; ++pair) {
    const std::uint16_t* const even =
        data + (2 * pair * tensor.blocks + block) * plane + first * row_words;
    const std::uint16_t* const odd = 2 * pair + 1 < batch ? even + tensor.blocks * plane : nullptr;
    pack_bf16_pixels(even, odd, (last - first) * tensor.width,
                     to + (pair - chunk.image) * lines.image_words);
  }
  return lines;
}

/// One task: blocks [in, in_end) x [out, out_end) of the filters.
class Task {
 public:
  Task(const FilterGradientPlan& plan, const void* x, const void* dy, float* dw,
       std::byte* workspace)
      : plan_(plan),
        x_{x, plan.shape.in_blocks, plan.shape.height, plan.shape.width},
        dy_{dy, plan.shape.out_blocks, plan.shape.out_height, plan.shape.out_width},
        dw_(dw),
        workspace_(workspace) {
    const FilterGradientShape& shape = plan.shape;
    row_shape_ = {
        .out_width = shape.out_width,
        .stride = shape.stride,
        .first_is_cut = shape.pad_left > 0,
        .last_is_cut = (shape.out_width - 1) * shape.stride - shape.pad_left + kTaps > shape.width};
  }

  void run(std::int64_t task) {
    in_ = blocks_in(plan_, task);
    out_ = blocks_out(plan_, task);
    for (std::int64_t out = out_.begin; out < out_.end; ++out) {
      std::memset(filters(out, in_.begin), 0,
                  static_cast<std::size_t>(in_.count() * kFilterFloats) * sizeof(float));
    }
    const std::int64_t images = images_of(plan_);
    for (std::int64_t image = 0; image < images; image += plan_.chunk_images) {
      for (std::int64_t row = 0; row < plan_.shape.out_height; row += plan_.chunk_rows) {
        add({.image = image,
             .last_image = std::min(image + plan_.chunk_images, images),
             .row = row,
             .last_row = std::min(row + plan_.chunk_rows, plan_.shape.out_height)});
      }
    }
  }

 private:
  float* filters(std::int64_t out, std::int64_t in) {
    return dw_ + (out * plan_.shape.in_blocks + in) * kFilterFloats;
  }

  void add(const Chunk& chunk) {
    std::array<Lines, kLargestGroup> x;
    std::array<Lines, kLargestGroup> dy;
    for (std::int64_t in = in_.begin; in < in_.end; ++in) {
      x[static_cast<std::size_t>(in - in_.begin)] = lines_of_x(chunk, in);
    }
    for (std::int64_t out = out_.begin; out < out_.end; ++out) {
      dy[static_cast<std::size_t>(out - out_.begin)] = lines_of_dy(chunk, out);
    }
    for (std::int64_t out = out_.begin; out < out_.end; ++out) {
      for (std::int64_t in = in_.begin; in < in_.end; ++in) {
        add(chunk, x[static_cast<std::size_t>(in - in_.begin)],
            dy[static_cast<std::size_t>(out - out_.begin)], filters(out, in));
      }
    }
  }

  Lines lines_of_x(const Chunk& chunk, std::int64_t in) {
    if (plan_.dtype == DType::f32) {
      return in_place(x_, in);
    }
    const FilterGradientShape& shape = plan_.shape;
    const std::int64_t first = chunk.row * shape.stride - shape.pad_top;
    const std::int64_t last = first + rows_under(shape, chunk.last_row - chunk.row);
    std::byte* const to =
        workspace_ + static_cast<std::size_t>(in - in_.begin) * plan_.packed_x_bytes;
    return packed(x_, in, shape.batch, chunk, std::max<std::int64_t>(first, 0),
                  std::min(last, shape.height), reinterpret_cast<std::uint32_t*>(to));
  }

  Lines lines_of_dy(const Chunk& chunk, std::int64_t out) {
    if (plan_.dtype == DType::f32) {
      return in_place(dy_, out);
    }
    std::byte* const to = workspace_ + kLargestGroup * plan_.packed_x_bytes +
                          static_cast<std::size_t>(out - out_.begin) * plan_.packed_dy_bytes;
    return packed(dy_, out, plan_.shape.batch, chunk, chunk.row, chunk.last_row,
                  reinterpret_cast<std::uint32_t*>(to));
  }

  void add(const Chunk& chunk, const Lines& x, const Lines& dy, float* filter) {
    const FilterGradientShape& shape = plan_.shape;
    std::array<RowPair, kMostRows> rows;
    for (std::int64_t tap = 0; tap < kTaps; ++tap) {
      std::size_t count = 0;
      for (std::int64_t image = chunk.image; image < chunk.last_image; ++image) {
        for (std::int64_t row = chunk.row; row < chunk.last_row; ++row) {
          const std::int64_t under = row * shape.stride + tap - shape.pad_top;
          if (under >= 0 && under < shape.height) {
            rows[count++] = {.dy = dy.at(image, row),
                             .x = x.at(image, under) - shape.pad_left * kPixelWords};
          }
        }
      }
      const auto add_rows =
          plan_.dtype == DType::f32 ? add_filter_gradient_f32 : add_filter_gradient_bf16;
      add_rows(row_shape_, {rows.data(), count}, filter + tap * kFilterRowFloats);
    }
  }

  const FilterGradientPlan& plan_;
  Tensor x_;
  Tensor dy_;
  float* dw_;
  std::byte* workspace_;
  RowShape row_shape_;
  Range in_;
  Range out_;
};

/// Whether no thread has much more than its share.
bool is_balanced(const FilterGradientPlan& plan) {
  constexpr double kMost = 1.15;
  std::int64_t busiest = 0;
  for (int thread = 0; thread < plan.threads; ++thread) {
    const Range tasks = ThreadTeam::split(plan.in_tasks * plan.out_tasks, plan.threads, thread);
    std::int64_t filters = 0;
    for (std::int64_t task = tasks.begin; task < tasks.end; ++task) {
      filters += blocks_in(plan, task).count() * blocks_out(plan, task).count();
    }
    busiest = std::max(busiest, filters);
  }
  const std::int64_t all = plan.shape.in_blocks * plan.shape.out_blocks;
  return static_cast<double>(busiest * plan.threads) <= kMost * static_cast<double>(all);
}

std::size_t packed_bytes(const FilterGradientPlan& plan, std::int64_t rows, std::int64_t width) {
  return static_cast<std::size_t>(plan.chunk_images * rows * width * kPixelBytes);
}

}  // namespace

std::optional<FilterGradientPlan> plan_filter_gradient(const FilterGradientShape& shape,
                                                       DType dtype, int threads) {
  const std::int64_t behind =
      (shape.out_width - 1) * shape.stride - shape.pad_left + kTaps - shape.width;
  const bool known = (dtype == DType::f32 || dtype == DType::bf16) &&
                     (shape.stride == 1 || shape.stride == 2) && shape.pad_top >= 0 &&
                     shape.pad_left >= 0 && shape.pad_left <= 1 && behind <= 1 &&
                     shape.out_width >= kNarrowest && shape.batch > 0;
  if (!known) {
    return std::nullopt;
  }
  FilterGradientPlan plan{.shape = shape, .dtype = dtype, .threads = threads};
  plan.group = kLargestGroup;
  for (; plan.group > 0; plan.group /= 2) {
    plan.in_tasks = ceil_div(shape.in_blocks, plan.group);
    plan.out_tasks = ceil_div(shape.out_blocks, plan.group);
    if (is_balanced(plan)) {
      break;
    }
  }
  if (plan.group == 0) {
    return std::nullopt;
  }
  plan.chunk_rows = std::clamp<std::int64_t>(kChunkPixels / shape.out_width, 1, shape.out_height);
  plan.chunk_images =
      std::max<std::int64_t>(1, kChunkPixels / (shape.out_width * shape.out_height));
  if (dtype == DType::bf16) {
    plan.packed_x_bytes = packed_bytes(plan, rows_under(shape, plan.chunk_rows), shape.width);
    plan.packed_dy_bytes = packed_bytes(plan, plan.chunk_rows, shape.out_width);
    plan.workspace_bytes = static_cast<std::size_t>(threads) * kLargestGroup *
                           (plan.packed_x_bytes + plan.packed_dy_bytes);
  }
  return plan;
}

void filter_gradient(ThreadTeam& team, const FilterGradientPlan& plan, const void* x,
                     const void* dy, float* dw, void* workspace) {
  const std::size_t share = plan.workspace_bytes / static_cast<std::size_t>(plan.threads);
  team.parallel([&](int thread) {
    auto* const own = static_cast<std::byte*>(workspace) + static_cast<std::size_t>(thread) * share;
    Task task(plan, x, dy, dw, own);
    const Range tasks = ThreadTeam::split(plan.in_tasks * plan.out_tasks, team.size(), thread);
    for (std::int64_t i = tasks.begin; i < tasks.end; ++i) {
      task.run(i);
    }
  });
}

}  // namespace bench::cpu

#include "kernels/cpu/quantized_pool.h"

#include <algorithm>
#include <random>

#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

constexpr std::array kKinds{PoolKind::max, PoolKind::mean};
constexpr std::array kQuanta{DType::u8, DType::s8};

int lowest(DType dtype) { return dtype == DType::u8 ? 0 : -128; }
int highest(DType dtype) { return dtype == DType::u8 ? 255 : 127; }

std::uint8_t byte_of(int value) { return static_cast<std::uint8_t>(value); }
int value_of(DType dtype, std::uint8_t byte) {
  return dtype == DType::u8 ? byte : static_cast<std::int8_t>(byte);
}

/// Runs the kernel on guarded memory.
struct Pooled {
  Pooled(ThreadTeam& team, QuantizedPool args, const std::vector<std::uint8_t>& x,
         std::int64_t elements)
      : input(x.size()), output(static_cast<std::size_t>(elements)) {
    std::copy(x.begin(), x.end(), static_cast<std::uint8_t*>(input.data()));
    args.x = input.data();
    args.y = output.data();
    quantized_pool(team, args);
  }
  [[nodiscard]] bool intact() const { return input.intact() && output.intact(); }

  test::GuardedMemory input;
  test::GuardedMemory output;
};

struct PoolCase {
  Shape x;
  Window window;
};

const std::vector<PoolCase>& pool_cases() {
  static const std::vector<PoolCase> kCases{
      {.x = {2, 70, 5, 7}, .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}}},
      {.x = {1, 33, 9, 8}, .window = {.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}}},
      {.x = {3, 5, 6, 6}, .window = {.kernel = {2, 2}, .stride = {2, 2}}},
      {.x = {1, 128, 3, 10}, .window = {.kernel = {1, 9}, .pad_before = {0, 8}}},
      {.x = {2, 1, 1, 1}, .window = {.kernel = {3, 2}, .pad_before = {1, 1}, .pad_after = {1, 0}}}};
  return kCases;
}

/// The pooled value of the definition, at (n, c, h, w) of y.
int expected(const QuantizedPool& args, const std::vector<std::uint8_t>& x,
             const std::array<std::int64_t, 4>& at) {
  const auto [n, c, h, w] = at;
  const Window& window = args.window;
  int most = lowest(args.dtype);
  double sum = 0;
  int count = 0;
  for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
    for (std::int64_t j = 0; j < window.kernel[1]; ++j) {
      const std::int64_t row = h * window.stride[0] - window.pad_before[0] + i;
      const std::int64_t column = w * window.stride[1] - window.pad_before[1] + j;
      if (row < 0 || row >= args.x_shape[2] || column < 0 || column >= args.x_shape[3]) {
        continue;
      }
      const std::int64_t pixel = (n * args.x_shape[2] + row) * args.x_shape[3] + column;
      const int value =
          value_of(args.dtype, x[static_cast<std::size_t>(pixel * args.x_shape[1] + c)]);
      most = std::max(most, value);
      sum += value;
      ++count;
    }
  }
  return args.kind == PoolKind::max ? most : static_cast<int>(std::nearbyint(sum / count));
}

TEST(QuantizedPool, FollowsTheDefinition) {
  test::for_teams([](ThreadTeam& team) {
    std::mt19937 random(7);
    for (const auto& [shape, window] : pool_cases()) {
      std::vector<std::uint8_t> x(static_cast<std::size_t>(shape.elements()));
      std::generate(x.begin(), x.end(), [&] { return byte_of(static_cast<int>(random() & 255U)); });
      const Shape y{shape[0], shape[1], window.output_extent(0, shape[2]),
                    window.output_extent(1, shape[3])};
      for (const PoolKind kind : kKinds) {
        for (const DType dtype : kQuanta) {
          const QuantizedPool args{
              .kind = kind, .dtype = dtype, .window = window, .x_shape = shape};
          const Pooled pooled(team, args, x, y.elements());
          ASSERT_TRUE(pooled.intact());
          const auto* given = static_cast<const std::uint8_t*>(pooled.output.data());
          for (std::int64_t n = 0; n < y[0]; ++n) {
            for (std::int64_t h = 0; h < y[2]; ++h) {
              for (std::int64_t w = 0; w < y[3]; ++w) {
                for (std::int64_t c = 0; c < y[1]; ++c) {
                  ASSERT_EQ(value_of(dtype, *given++), expected(args, x, {n, c, h, w}))
                      << shape << " " << window << " " << name_of(dtype);
                }
              }
            }
          }
        }
      }
    }
  });
}

/// Every sum of 1 to 9 quanta, each in a separate channel.
TEST(QuantizedPool, RoundsEveryMeanToNearestAndTiesToEven) {
  test::for_teams([](ThreadTeam& team) {
    for (const DType dtype : kQuanta) {
      for (int count = 1; count <= static_cast<int>(kMostPoolElements); ++count) {
        const int least = count * lowest(dtype);
        const int sums = count * highest(dtype) - least + 1;
        std::vector<std::uint8_t> x;
        for (int i = 0; i < count; ++i) {
          for (int sum = least; sum < least + sums; ++sum) {
            // The remainder goes to the first elements.
            const int floor = (sum - least) / count + lowest(dtype);
            x.push_back(byte_of(floor + ((sum - least) % count > i ? 1 : 0)));
          }
        }
        const Pooled pooled(team,
                            {.kind = PoolKind::mean,
                             .dtype = dtype,
                             .window = {.kernel = {1, count}},
                             .x_shape = {1, sums, 1, count}},
                            x, sums);
        for (int i = 0; i < sums; ++i) {
          ASSERT_EQ(value_of(dtype, static_cast<const std::uint8_t*>(pooled.output.data())[i]),
                    static_cast<int>(std::nearbyint(static_cast<double>(least + i) / count)))
              << "sum " << least + i << " of " << count << " in " << name_of(dtype);
        }
      }
    }
  });
}

TEST(QuantizedPool, RefusesWindowsThatItCannotPool) {
  EXPECT_TRUE(pools_quanta({.kernel = {3, 3}, .pad_before = {2, 2}, .pad_after = {2, 2}}));
  EXPECT_FALSE(pools_quanta({.kernel = {2, 5}}));
  EXPECT_FALSE(pools_quanta({.kernel = {2, 2}, .dilation = {1, 2}}));
  EXPECT_FALSE(pools_quanta({.kernel = {3, 3}, .pad_before = {3, 0}}));
  EXPECT_FALSE(pools_quanta({.kernel = {3, 3}, .pad_after = {0, 3}}));
}

}  // namespace
}  // namespace bench::cpu

#include "kernels/reference/product.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/philox.h"

namespace bench::reference {
namespace {

/// Whole numbers, whose sums are exact.
std::vector<double> numbers(std::int64_t count) {
  RandomStream random(3);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) {
    value = static_cast<double>(random.below(9)) - 4;
  }
  return values;
}

double element(const Factor& factor, std::int64_t row, std::int64_t column) {
  return factor.data[row * factor.row_stride + column * factor.column_stride];
}

/// The orientation of the factors.
struct Lie {
  bool a_transposed = false;
  bool b_transposed = false;
  bool add = false;
};

void expect_exact(std::int64_t rows, std::int64_t depth, std::int64_t columns, const Lie& lie) {
  const std::vector<double> a = numbers(rows * depth);
  const std::vector<double> b = numbers(depth * columns);
  const std::int64_t row_stride = columns + 3;
  std::vector<double> c = numbers(rows * row_stride);
  const std::vector<double> before = c;
  const auto factor = [](const std::vector<double>& data, std::int64_t height, std::int64_t width,
                         bool transposed) {
    return transposed ? Factor{.data = data.data(), .row_stride = 1, .column_stride = height}
                      : Factor{.data = data.data(), .row_stride = width, .column_stride = 1};
  };
  const Product product{.rows = rows,
                        .depth = depth,
                        .columns = columns,
                        .a = factor(a, rows, depth, lie.a_transposed),
                        .b = factor(b, depth, columns, lie.b_transposed),
                        .c = c.data(),
                        .row_stride = row_stride,
                        .add = lie.add};
  std::vector<double> scratch(static_cast<std::size_t>(product_scratch(depth)));
  multiply(product, scratch.data());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < row_stride; ++column) {
      const auto at = static_cast<std::size_t>(row * row_stride + column);
      double expected = lie.add || column >= columns ? before[at] : 0;
      for (std::int64_t k = 0; column < columns && k < depth; ++k) {
        expected += element(product.a, row, k) * element(product.b, k, column);
      }
      ASSERT_EQ(c[at], expected) << rows << "x" << depth << "x" << columns << " at " << row << ", "
                                 << column;
    }
  }
}

TEST(Product, IsExactForEverySizeAndWritesNothingElse) {
  for (const std::int64_t rows : {1, 3, 4, 9}) {
    for (const std::int64_t depth : {1, 7, 40}) {
      for (const std::int64_t columns : {1, 15, 16, 17, 50}) {
        expect_exact(rows, depth, columns, {});
      }
    }
  }
}

TEST(Product, AcceptsTransposedFactorsAndAdds) {
  expect_exact(5, 11, 18, {.a_transposed = true});
  expect_exact(5, 11, 18, {.b_transposed = true, .add = true});
}

}  // namespace
}  // namespace bench::reference

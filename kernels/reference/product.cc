#include "kernels/reference/product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reference/product.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef BENCH_KERNELS_REFERENCE_PRODUCT_
#define BENCH_KERNELS_REFERENCE_PRODUCT_
namespace bench::reference {

/// Columns of b that are multiplied at a time, gathered side by side: two vectors, however wide.
inline constexpr std::int64_t kPanel = 16;
/// Rows of a at a time.
inline constexpr std::int64_t kTileRows = 4;

}  // namespace bench::reference
#endif

HWY_BEFORE_NAMESPACE();
namespace bench::reference {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<double, kPanel / 2>;

/// Four rows of `a`, from `from` on, times two vectors' columns of the panel.
void multiply_four_rows(const Factor& a, const double* from, std::int64_t depth,
                        const double* panel, double* tile) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const double* const a0 = from;
  const double* const a1 = a0 + a.row_stride;
  const double* const a2 = a1 + a.row_stride;
  const double* const a3 = a2 + a.row_stride;
  auto s00 = hn::Zero(d);
  auto s01 = hn::Zero(d);
  auto s10 = hn::Zero(d);
  auto s11 = hn::Zero(d);
  auto s20 = hn::Zero(d);
  auto s21 = hn::Zero(d);
  auto s30 = hn::Zero(d);
  auto s31 = hn::Zero(d);
  for (std::int64_t k = 0; k < depth; ++k) {
    const auto b0 = hn::LoadU(d, panel + k * kPanel);
    const auto b1 = hn::LoadU(d, panel + k * kPanel + lanes);
    const std::int64_t at = k * a.column_stride;
    const auto x0 = hn::Set(d, a0[at]);
    s00 = hn::MulAdd(x0, b0, s00);
    s01 = hn::MulAdd(x0, b1, s01);
    const auto x1 = hn::Set(d, a1[at]);
    s10 = hn::MulAdd(x1, b0, s10);
    s11 = hn::MulAdd(x1, b1, s11);
    const auto x2 = hn::Set(d, a2[at]);
    s20 = hn::MulAdd(x2, b0, s20);
    s21 = hn::MulAdd(x2, b1, s21);
    const auto x3 = hn::Set(d, a3[at]);
    s30 = hn::MulAdd(x3, b0, s30);
    s31 = hn::MulAdd(x3, b1, s31);
  }
  hn::StoreU(s00, d, tile);
  hn::StoreU(s01, d, tile + lanes);
  hn::StoreU(s10, d, tile + kPanel);
  hn::StoreU(s11, d, tile + kPanel + lanes);
  hn::StoreU(s20, d, tile + 2 * kPanel);
  hn::StoreU(s21, d, tile + 2 * kPanel + lanes);
  hn::StoreU(s30, d, tile + 3 * kPanel);
  hn::StoreU(s31, d, tile + 3 * kPanel + lanes);
}

void multiply_row(const Factor& a, const double* from, std::int64_t depth, const double* panel,
                  double* tile) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d);
  auto s1 = hn::Zero(d);
  for (std::int64_t k = 0; k < depth; ++k) {
    const auto x = hn::Set(d, from[k * a.column_stride]);
    s0 = hn::MulAdd(x, hn::LoadU(d, panel + k * kPanel), s0);
    s1 = hn::MulAdd(x, hn::LoadU(d, panel + k * kPanel + lanes), s1);
  }
  hn::StoreU(s0, d, tile);
  hn::StoreU(s1, d, tile + lanes);
}

/// Up to kTileRows rows, from `row` on, times the panel.
void multiply_tile(const Product& product, std::int64_t row, const double* panel, double* tile) {
  const Factor& a = product.a;
  const auto columns = static_cast<std::int64_t>(2 * hn::Lanes(Lanes()));
  const std::int64_t rows = std::min(kTileRows, product.rows - row);
  for (std::int64_t column = 0; column < kPanel; column += columns) {
    if (rows == kTileRows) {
      multiply_four_rows(a, a.data + row * a.row_stride, product.depth, panel + column,
                         tile + column);
      continue;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      multiply_row(a, a.data + (row + r) * a.row_stride, product.depth, panel + column,
                   tile + r * kPanel + column);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::reference
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::reference {
namespace {

/// Columns of b, from `column` on, with zeros after the last one.
void gather_panel(const Product& product, std::int64_t column, double* panel) {
  const Factor& b = product.b;
  const std::int64_t columns = std::min(kPanel, product.columns - column);
  for (std::int64_t k = 0; k < product.depth; ++k) {
    const double* const from = b.data + k * b.row_stride + column * b.column_stride;
    double* const to = panel + k * kPanel;
    if (b.column_stride == 1) {
      std::copy_n(from, columns, to);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) {
        to[j] = from[j * b.column_stride];
      }
    }
    std::fill(to + columns, to + kPanel, 0.0);
  }
}

void put_tile(const Product& product, std::int64_t row, std::int64_t column, const double* tile) {
  const std::int64_t rows = std::min(kTileRows, product.rows - row);
  const std::int64_t columns = std::min(kPanel, product.columns - column);
  for (std::int64_t r = 0; r < rows; ++r) {
    double* const to = product.c + (row + r) * product.row_stride + column;
    for (std::int64_t j = 0; j < columns; ++j) {
      to[j] = (product.add ? to[j] : 0) + tile[r * kPanel + j];
    }
  }
}

}  // namespace

HWY_EXPORT(multiply_tile);

std::int64_t product_scratch(std::int64_t depth) { return depth * kPanel; }

void multiply(const Product& product, double* scratch) {
  alignas(64) double tile[kTileRows * kPanel];
  for (std::int64_t column = 0; column < product.columns; column += kPanel) {
    gather_panel(product, column, scratch);
    for (std::int64_t row = 0; row < product.rows; row += kTileRows) {
      HWY_DYNAMIC_DISPATCH(multiply_tile)(product, row, scratch, tile);
      put_tile(product, row, column, tile);
    }
  }
}

void multiply(const Crew& crew, const Product& product) {
  constexpr std::int64_t kRows = 64;
  crew.for_each((product.rows + kRows - 1) / kRows, [&](std::int64_t part, double* scratch) {
    const std::int64_t first = part * kRows;
    Product rows = product;
    rows.rows = std::min(kRows, product.rows - first);
    rows.a.data += first * product.a.row_stride;
    rows.c += first * product.row_stride;
    multiply(rows, scratch);
  });
}

}  // namespace bench::reference
#endif  // HWY_ONCE

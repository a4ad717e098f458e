#include "kernels/reference/operations.h"
#include "models/base/errors.h"
#include "models/ops/swap_axes.h"

namespace bench::reference {
namespace {

std::int64_t id_of(const Tensor& ids, std::int64_t place, std::int64_t rows) {
  const auto id = static_cast<std::int64_t>(ids[place]);
  check(id >= 0 && id < rows, fmt::format("embedding: id {} is outside the {} rows", id, rows));
  return id;
}

/// The rows of the last axis.
Matrix rows_of(const Tensor& tensor, std::int64_t columns) {
  return {tensor.data, tensor.elements() / columns, columns};
}

}  // namespace

Operation embedding(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const auto table = in[0].matrix();
    auto y = rows_of(out[0], table.cols());
    for (std::int64_t place = 0; place < in[1].elements(); ++place) {
      y.row(place) = table.row(id_of(in[1], place, table.rows()));
    }
  }};
}

Operation embedding_backward(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    auto dtable = out[0].matrix();
    const auto dy = rows_of(in[0], dtable.cols());
    dtable.setZero();
    for (std::int64_t place = 0; place < in[1].elements(); ++place) {
      dtable.row(id_of(in[1], place, dtable.rows())) += dy.row(place);
    }
  }};
}

Operation swap_axes(const Graph&, const Node& node) {
  const std::size_t first = node.attributes.as<SwapAxesAttributes>().first;
  return {.compute = [first](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const Shape& x = in[0].shape;
    for (std::int64_t a = 0; a < x[0]; ++a) {
      for (std::int64_t b = 0; b < x[1]; ++b) {
        for (std::int64_t c = 0; c < x[2]; ++c) {
          const std::int64_t to =
              first == 0 ? (b * x[0] + a) * x[2] + c : (a * x[2] + c) * x[1] + b;
          out[0].data[to] = in[0].data[(a * x[1] + b) * x[2] + c];
        }
      }
    }
  }};
}

}  // namespace bench::reference

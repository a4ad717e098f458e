#include "bench/verify/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "models/base/errors.h"
#include "models/ops/batch_norm.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

/// The maximum effect of rounding without cancellation, as a share of a result's norm. It covers
/// two or three roundings to its type, and in f32 and f64 sums of millions of terms.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 6e-3;
    case DType::f16:
      return 2e-3;
    case DType::f64:
      return 1e-10;
    default:
      return 1e-3;
  }
}

// The largest of a million roundings is several times their root mean square.
constexpr double kLargestTimes = 8;

/// A sum and a maximum over several elements at once.
struct Lanes {
  static constexpr std::size_t kCount = 8;
  std::array<double, kCount> squares{};
  std::array<double, kCount> largest{};

  void add(std::size_t lane, double value) {
    const double size = std::abs(value);
    squares[lane] += size * size;
    largest[lane] = largest[lane] < size ? size : largest[lane];
  }
  /// NaN counts as infinitely far.
  [[nodiscard]] Distance distance() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
    return std::isnan(sum)
               ? Distance{kInfinity, kInfinity}
               : Distance{std::sqrt(sum), *std::max_element(largest.begin(), largest.end())};
  }
};

template <class T>
Distances measure(std::span<const T> measured, std::span<const double> expected, double factor) {
  check(measured.size() == expected.size(), "plan check: a result has the wrong size");
  Lanes difference;
  Lanes result;
  const auto add = [&](std::size_t lane, std::size_t i) {
    const double right = factor * expected[i];
    difference.add(lane, static_cast<double>(measured[i]) - right);
    result.add(lane, right);
  };
  const std::size_t whole = measured.size() / Lanes::kCount * Lanes::kCount;
  for (std::size_t i = 0; i < whole; i += Lanes::kCount) {
    for (std::size_t lane = 0; lane < Lanes::kCount; ++lane) {
      add(lane, i + lane);
    }
  }
  for (std::size_t i = whole; i < measured.size(); ++i) {
    add(i - whole, i);
  }
  return {.difference = difference.distance(), .result = result.distance()};
}

template <class T>
std::span<const T> elements_of(const HostTensor& tensor) {
  // An arena's memory is aligned for every type.
  return {static_cast<const T*>(static_cast<const void*>(tensor.bytes.data())),
          tensor.bytes.size() / sizeof(T)};
}

/// Half the distance between the smallest numbers of a type: rounding may add this to any element,
/// however small. For other types it is negligible.
double smallest_rounding(DType dtype) { return dtype == DType::f16 ? 0x1.0p-25 : 0; }

/// `allowed` is a share of `result`; `more` is added to it. If `result` is zero, or too small to
/// express a share, the deviation is 0 within the tolerance and infinite outside.
CheckedKernel judge(double difference, double result, double allowed, double more) {
  const double deviation = difference / result;
  const double tolerance = allowed + more / result;
  if (std::isfinite(deviation) && std::isfinite(tolerance)) {
    return {.name = {}, .deviation = deviation, .tolerance = tolerance};
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {.name = {},
          .deviation = difference <= allowed * result + more ? 0 : kInfinity,
          .tolerance = allowed};
}

}  // namespace

double moved_share(DType dtype) {
  return 4 * (accumulation_type(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                     : std::numeric_limits<float>::epsilon());
}

double moved_share_between(DType dtype) {
  const double rounding = dtype == DType::f16 ? 0x1.0p-11 : dtype == DType::bf16 ? 0x1.0p-8 : 0;
  // These roundings are not part of a sum: judge() must not allow many of them.
  return std::max(moved_share(dtype), rounding / kMovedTimes);
}

std::vector<Move> moves_of(const Graph& graph, const Node& node, DType dtype, bool copies_differ) {
  std::vector<Move> moves(node.inputs.size(), {.share = moved_share(dtype)});
  const auto type_of = [&](std::size_t input) { return graph.type(node.inputs[input]).dtype; };
  for (std::size_t i = 0; copies_differ && i < moves.size(); ++i) {
    if (is_half(type_of(i))) {
      moves[i] = {.share = moved_share_between(type_of(i)),
                  .step = 2 * smallest_rounding(type_of(i)) / kMovedTimes};
    }
  }
  if (node.op == &kBatchNormBackward) {
    const auto& attributes = node.attributes.as<BatchNormAttributes>();
    if (attributes.epilogue.residual) {
      // A kernel may round the residual's gradient before it adds it up.
      moves[0].share = moved_share_between(type_of(0));
      if (const int second = batch_norm_backward_inputs(attributes).second_dy; second >= 0) {
        moves[static_cast<std::size_t>(second)].share = moves[0].share;
      }
    }
    return moves;
  }
  if (!has_prologue(node)) {
    return moves;
  }
  const bool forward = node.op == &kConv2d;
  const auto& prologue = forward ? node.attributes.as<Conv2dAttributes>().prologue
                                 : node.attributes.as<Conv2dBackwardWeightsAttributes>().prologue;
  const std::size_t x = forward ? 0 : 1;
  const double between = moved_share_between(type_of(x));
  moves[x].share = between;
  std::for_each_n(moves.rbegin(), prologue_count(prologue),
                  [&](Move& move) { move.share = between; });
  return moves;
}

Distances distances(const HostTensor& measured, std::span<const double> expected, double factor) {
  return measured.type.dtype == DType::f64
             ? measure(elements_of<double>(measured), expected, factor)
             : measure(elements_of<float>(measured), expected, factor);
}

Distances distances(std::span<const double> measured, std::span<const double> expected) {
  return measure(measured, expected, 1);
}

CheckedKernel judge(const Distances& found, const Distance& moved, DType dtype,
                    std::size_t elements) {
  const auto& [difference, result] = found;
  const double tolerance = tolerance_of(dtype);
  if (!std::isfinite(difference.norm) || !std::isfinite(result.norm)) {
    return {
        .name = {}, .deviation = std::numeric_limits<double>::infinity(), .tolerance = tolerance};
  }
  const double step = smallest_rounding(dtype);
  const auto carried = [](double share) { return std::isfinite(share) ? kMovedTimes * share : 0; };
  const CheckedKernel by_norm =
      judge(difference.norm, result.norm, tolerance,
            carried(moved.norm) + step * std::sqrt(static_cast<double>(elements)));
  const CheckedKernel by_largest =
      judge(difference.largest, result.largest, kLargestTimes * tolerance,
            kLargestTimes * (carried(moved.largest) + step));
  return by_norm.deviation * by_largest.tolerance >= by_largest.deviation * by_norm.tolerance
             ? by_norm
             : by_largest;
}

}  // namespace bench

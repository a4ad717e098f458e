#include <cmath>
#include <limits>

#include "kernels/reference/operations.h"
#include "models/base/errors.h"

namespace bench::reference {
namespace {

using Table = Eigen::ArrayXXd;

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::int64_t whole(const Tensor& tensor, std::int64_t place, std::int64_t bound, const char* what) {
  const auto number = static_cast<std::int64_t>(tensor[place]);
  check(number >= 0 && number < bound,
        fmt::format("ctc_loss: {} {} is outside 0 to {}", what, number, bound - 1));
  return number;
}

double add_logs(double a, double b) {
  if (a < b) {
    std::swap(a, b);
  }
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

/// The classes that a path passes: the labels, with a blank around each.
std::vector<std::int64_t> states_of(std::span<const Tensor> in, std::int64_t n) {
  const std::int64_t blank = in[0].shape[2] - 1;
  const std::int64_t stride = in[1].shape[1];
  const std::int64_t count = whole(in[2], n, stride + 1, "label count");
  std::vector<std::int64_t> states{blank};
  for (std::int64_t i = 0; i < count; ++i) {
    states.push_back(whole(in[1], n * stride + i, blank, "label"));
    states.push_back(blank);
  }
  return states;
}

/// The log probabilities of all paths from the first frame to each state of each frame, with both
/// ends. `logs` is [T, S]: the log probability of each state's class. `may_skip` says whether a
/// path may reach a state from the last but one.
Table paths_to(const Table& logs, const std::vector<bool>& may_skip) {
  Table paths = Table::Constant(logs.rows(), logs.cols(), kNever);
  for (std::int64_t t = 0; t < logs.rows(); ++t) {
    for (std::int64_t s = 0; s < logs.cols(); ++s) {
      double sum = t == 0 && s < 2 ? 0 : kNever;
      for (std::int64_t from = std::max<std::int64_t>(s - 2, 0); t > 0 && from <= s; ++from) {
        if (from != s - 2 || may_skip[static_cast<std::size_t>(s)]) {
          sum = add_logs(sum, paths(t - 1, from));
        }
      }
      paths(t, s) = sum + logs(t, s);
    }
  }
  return paths;
}

/// Adds the derivative of the example's loss, and returns the loss.
double add_example(std::span<const Tensor> in, std::int64_t n, const Tensor& dlogits) {
  const std::vector<std::int64_t> states = states_of(in, n);
  const auto count = static_cast<std::int64_t>(states.size());
  const std::int64_t frames = whole(in[3], n, in[0].shape[0] + 1, "frame count");
  if (frames == 0) {
    return count == 1 ? 0 : -kNever;
  }
  Table log_classes(frames, in[0].shape[2]);
  Table logs(frames, count);
  std::vector<bool> may_skip(states.size());
  for (std::int64_t t = 0; t < frames; ++t) {
    const Array logits = in[0].plane(t, n);
    const double largest = logits.maxCoeff();
    log_classes.row(t) = logits - largest - std::log((logits - largest).exp().sum());
    for (std::int64_t s = 0; s < count; ++s) {
      logs(t, s) = log_classes(t, states[static_cast<std::size_t>(s)]);
    }
  }
  for (std::size_t s = 3; s < states.size(); s += 2) {
    may_skip[s] = states[s] != states[s - 2];
  }
  // Backwards, the same rule holds for the states in reverse order.
  std::vector<bool> may_skip_back(states.size());
  for (std::size_t s = 2; s < states.size(); ++s) {
    may_skip_back[states.size() - 1 - (s - 2)] = may_skip[s];
  }
  const Table forward = paths_to(logs, may_skip);
  const Table backward = paths_to(logs.reverse(), may_skip_back).reverse();
  double total = forward(frames - 1, count - 1);
  if (count > 1) {
    total = add_logs(total, forward(frames - 1, count - 2));
  }
  for (std::int64_t t = 0; t < frames; ++t) {
    Array derivative = dlogits.plane(t, n);
    derivative = log_classes.row(t).exp();
    for (std::int64_t s = 0; s < count; ++s) {
      const double paths = forward(t, s) + backward(t, s) - logs(t, s);
      derivative[states[static_cast<std::size_t>(s)]] -= std::exp(paths - total);
    }
    if (total == kNever) {
      derivative = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return -total;
}

}  // namespace

Operation ctc_loss(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    const std::int64_t examples = in[0].shape[1];
    out[1].array().setZero();
    double sum = 0;
    for (std::int64_t n = 0; n < examples; ++n) {
      sum += add_example(in, n, out[1]);
    }
    out[0][0] = sum / static_cast<double>(examples);
    out[1].array() /= static_cast<double>(examples);
  }};
}

Operation ctc_loss_backward(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].array() = in[1][0] * in[0].array();
  }};
}

}  // namespace bench::reference

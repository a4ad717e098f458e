#include "kernels/cpu/ctc_loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "models/base/errors.h"

namespace bench::cpu {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

void check_count(std::int64_t count, std::int64_t most, const char* what) {
  if (count < 0 || count > most) {
    throw DataError(
        fmt::format("ctc_loss: an example has {} {}, but 0 to {} are accepted", count, what, most));
  }
}

void check_example(const CtcLoss& args, std::int64_t n) {
  check_count(args.label_counts[n], args.labels_stride, "labels");
  check_count(args.frame_counts[n], args.frames, "frames");
  const std::span labels(args.labels + n * args.labels_stride,
                         static_cast<std::size_t>(args.label_counts[n]));
  const auto outside = [&](std::int32_t label) { return label < 0 || label >= args.classes - 1; };
  const auto found = std::ranges::find_if(labels, outside);
  if (found != labels.end()) {
    throw DataError(fmt::format("ctc_loss: label {} is outside the {} classes before the blank",
                                *found, args.classes - 1));
  }
}

/// The logarithm of the sum of the numbers with these logarithms.
double add_logs(const std::array<double, 3>& logs) {
  const double largest = std::max({logs[0], logs[1], logs[2]});
  if (largest == kImpossible) {
    return kImpossible;
  }
  return largest + std::log(std::exp(logs[0] - largest) + std::exp(logs[1] - largest) +
                            std::exp(logs[2] - largest));
}

/// logs[state], or impossible if paths cannot use that state.
double log_at(const double* logs, std::int64_t state, bool usable) {
  if (usable) {
    return logs[state];
  }
  return kImpossible;
}

/// The scratch memory of a thread.
struct Scratch {
  explicit Scratch(const CtcLoss& args, int thread);
  static std::int64_t states_of(const CtcLoss& args) { return 2 * args.labels_stride + 1; }
  static std::int64_t elements(const CtcLoss& args) {
    return args.frames * (args.classes + states_of(args)) + 2 * states_of(args) + args.classes;
  }

  double* logs;    ///< of the classes' probabilities, per frame
  double* alphas;  ///< per frame, a state each
  double* betas;   ///< of two frames
  double* shares;  ///< of the classes in one frame
};

Scratch::Scratch(const CtcLoss& args, int thread) {
  // The losses of the examples come first.
  auto* next = static_cast<double*>(args.workspace) + args.examples + thread * elements(args);
  const auto take = [&](std::int64_t count) {
    double* const taken = next;
    next += count;
    return taken;
  };
  logs = take(args.frames * args.classes);
  alphas = take(args.frames * states_of(args));
  betas = take(2 * states_of(args));
  shares = take(args.classes);
}

/// One example. Its states are the labels with a blank before each and at the end: state s is label
/// (s - 1) / 2 if s is odd.
class Example {
 public:
  Example(const CtcLoss& args, std::int64_t n, const Scratch& scratch)
      : args_(args),
        scratch_(scratch),
        n_(n),
        frames_(args.frame_counts[n]),
        states_(2 * std::int64_t{args.label_counts[n]} + 1),
        labels_(args.labels + n * args.labels_stride) {}

  /// Writes the derivative for the mean of `examples`, and returns the loss.
  double run() {
    for (std::int64_t t = frames_; t < args_.frames; ++t) {
      std::fill_n(row(args_.dlogits, t), args_.classes, 0.0F);
    }
    if (frames_ == 0) {
      return states_ == 1 ? 0 : -kImpossible;
    }
    for (std::int64_t t = 0; t < frames_; ++t) {
      find_logs(t);
      find_alphas(t);
    }
    const double* const last = alphas(frames_ - 1);
    const double total =
        add_logs({last[states_ - 1], log_at(last, states_ - 2, states_ > 1), kImpossible});
    for (std::int64_t t = frames_ - 1; t >= 0; --t) {
      find_betas(t);
      find_derivative(t, total);
    }
    return -total;
  }

 private:
  template <class T>
  T* row(T* tensor, std::int64_t t) const {
    return tensor + (t * args_.examples + n_) * args_.classes;
  }
  [[nodiscard]] double* logs(std::int64_t t) const { return scratch_.logs + t * args_.classes; }
  [[nodiscard]] double* alphas(std::int64_t t) const { return scratch_.alphas + t * states_; }
  [[nodiscard]] double* betas(std::int64_t t) const { return scratch_.betas + t % 2 * states_; }
  [[nodiscard]] std::int64_t class_of(std::int64_t state) const {
    return state % 2 == 0 ? args_.classes - 1 : labels_[state / 2];
  }
  /// True if a path may go from state - 2 to this one: it need not pass the blank between them.
  [[nodiscard]] bool skips(std::int64_t state) const {
    return state % 2 == 1 && state >= 3 && labels_[state / 2] != labels_[state / 2 - 1];
  }

  void find_logs(std::int64_t t) {
    const float* const logits = row(args_.logits, t);
    double* const log = logs(t);
    const double largest = *std::max_element(logits, logits + args_.classes);
    double sum = 0;
    for (std::int64_t c = 0; c < args_.classes; ++c) {
      log[c] = logits[c] - largest;
      sum += std::exp(log[c]);
    }
    const double log_sum = std::log(sum);
    std::for_each(log, log + args_.classes, [&](double& value) { value -= log_sum; });
  }

  /// The paths to each state that emit the frames up to t.
  void find_alphas(std::int64_t t) {
    double* const alpha = alphas(t);
    const double* const before = t == 0 ? nullptr : alphas(t - 1);
    for (std::int64_t s = 0; s < states_; ++s) {
      double paths = s < 2 ? 0 : kImpossible;
      if (before != nullptr) {
        paths =
            add_logs({before[s], log_at(before, s - 1, s > 0), log_at(before, s - 2, skips(s))});
      }
      alpha[s] = paths + logs(t)[class_of(s)];
    }
  }

  /// The paths from each state that emit the frames after t.
  void find_betas(std::int64_t t) {
    double* const beta = betas(t);
    if (t == frames_ - 1) {
      std::fill_n(beta, states_, kImpossible);
      std::fill_n(beta + std::max<std::int64_t>(states_ - 2, 0), std::min<std::int64_t>(states_, 2),
                  0);
      return;
    }
    // With the frame t + 1.
    double* const after = betas(t + 1);
    for (std::int64_t s = 0; s < states_; ++s) {
      after[s] += logs(t + 1)[class_of(s)];
    }
    for (std::int64_t s = 0; s < states_; ++s) {
      beta[s] = add_logs({after[s], log_at(after, s + 1, s + 1 < states_),
                          log_at(after, s + 2, s + 2 < states_ && skips(s + 2))});
    }
  }

  void find_derivative(std::int64_t t, double total) {
    std::fill_n(scratch_.shares, args_.classes, 0.0);
    for (std::int64_t s = 0; s < states_; ++s) {
      // NaN without any path.
      scratch_.shares[class_of(s)] += std::exp(alphas(t)[s] + betas(t)[s] - total);
    }
    float* const dlogits = row(args_.dlogits, t);
    for (std::int64_t c = 0; c < args_.classes; ++c) {
      dlogits[c] = static_cast<float>((std::exp(logs(t)[c]) - scratch_.shares[c]) /
                                      static_cast<double>(args_.examples));
    }
    if (total == kImpossible) {
      std::fill_n(dlogits, args_.classes, std::numeric_limits<float>::quiet_NaN());
    }
  }

  const CtcLoss& args_;
  const Scratch& scratch_;
  std::int64_t n_;
  std::int64_t frames_;
  std::int64_t states_;
  const std::int32_t* labels_;
};

}  // namespace

std::size_t ctc_workspace_bytes(const CtcLoss& args, int threads) {
  return static_cast<std::size_t>(args.examples + threads * Scratch::elements(args)) *
         sizeof(double);
}

double ctc_loss(ThreadTeam& team, const CtcLoss& args) {
  for (std::int64_t n = 0; n < args.examples; ++n) {
    check_example(args, n);
  }
  auto* const losses = static_cast<double*>(args.workspace);
  team.parallel([&](int thread) {
    const Scratch scratch(args, thread);
    for (std::int64_t n = thread; n < args.examples; n += team.size()) {
      losses[n] = Example(args, n, scratch).run();
    }
  });
  return std::accumulate(losses, losses + args.examples, 0.0) / static_cast<double>(args.examples);
}

}  // namespace bench::cpu

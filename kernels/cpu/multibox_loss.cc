#include "kernels/cpu/multibox_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/cpu/loss.h"
#include "models/base/errors.h"
#include "models/ops/multibox_loss.h"

namespace bench::cpu {
namespace {

constexpr std::int64_t kCoordinates = 4;

/// The parts of the workspace: a loss per example, a cross-entropy and a number per anchor.
struct Workspace {
  explicit Workspace(const MultiboxLoss& args)
      : losses(static_cast<double*>(args.workspace)),
        cross_entropies(losses + args.examples),
        background(
            reinterpret_cast<std::int32_t*>(cross_entropies + args.examples * args.anchors)) {}

  double* losses;
  double* cross_entropies;
  std::int32_t* background;
};

void check_classes(const MultiboxLoss& args) {
  for (std::int64_t i = 0; i < args.examples * args.anchors; ++i) {
    if (args.classes[i] < 0 || args.classes[i] >= args.score_count) {
      throw DataError(fmt::format("class {} of example {}, anchor {} is outside 0 to {}",
                                  args.classes[i], i / args.anchors, i % args.anchors,
                                  args.score_count - 1));
    }
  }
}

/// Writes the loss and the derivatives of example n. `dscores` has the probabilities on entry.
void finish_example(const MultiboxLoss& args, const Workspace& workspace, std::int64_t n) {
  const std::int64_t first = n * args.anchors;
  const std::int32_t* const classes = args.classes + first;
  const double* const losses = workspace.cross_entropies + first;
  std::int32_t* const background = workspace.background + first;
  std::int32_t* end = background;
  for (std::int32_t a = 0; a < args.anchors; ++a) {
    if (classes[a] == 0) {
      *end++ = a;
    }
  }
  const std::int64_t matched = args.anchors - (end - background);
  std::int32_t* const easy =
      background + std::min<std::int64_t>(end - background, kBackgroundPerMatched * matched);
  // NaN is the largest, so that the order is complete.
  const auto size_of = [&](std::int32_t a) {
    return std::isnan(losses[a]) ? std::numeric_limits<double>::infinity() : losses[a];
  };
  std::nth_element(background, easy, end, [&](std::int32_t a, std::int32_t b) {
    return size_of(a) > size_of(b) || (size_of(a) == size_of(b) && a < b);
  });
  // So that one pass over the anchors skips these.
  std::sort(easy, end);
  const auto divisor = static_cast<double>(std::max<std::int64_t>(matched, 1));
  const auto factor = static_cast<float>(1 / (divisor * static_cast<double>(args.examples)));
  double sum = 0;
  const std::int32_t* next_easy = easy;
  for (std::int64_t a = 0; a < args.anchors; ++a) {
    float* const dscores = args.dscores + (first + a) * args.score_count;
    float* const doffsets = args.doffsets + (first + a) * kCoordinates;
    std::fill_n(doffsets, kCoordinates, 0.0F);
    if (next_easy != end && *next_easy == a) {
      ++next_easy;
      std::fill_n(dscores, args.score_count, 0.0F);
      continue;
    }
    sum += losses[a];
    dscores[classes[a]] -= 1;
    std::for_each_n(dscores, args.score_count, [&](float& value) { value *= factor; });
    if (classes[a] == 0) {
      continue;
    }
    const std::int64_t at = (first + a) * kCoordinates;
    for (std::int64_t i = 0; i < kCoordinates; ++i) {
      const float error = args.offsets[at + i] - args.target_offsets[at + i];
      const double size = std::abs(double{error});
      sum += size <= 1 ? size * size / 2 : size - 0.5;
      doffsets[i] = std::clamp(error, -1.0F, 1.0F) * factor;
    }
  }
  workspace.losses[n] = sum / divisor;
}

}  // namespace

std::size_t multibox_workspace_bytes(const MultiboxLoss& args) {
  const auto examples = static_cast<std::size_t>(args.examples);
  const auto anchors = static_cast<std::size_t>(args.anchors);
  return examples * (sizeof(double) + anchors * (sizeof(double) + sizeof(std::int32_t)));
}

double multibox_loss(ThreadTeam& team, const MultiboxLoss& args) {
  check_classes(args);
  const Workspace workspace(args);
  team.for_ranges(args.examples * args.anchors, 1, [&](Range rows) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      workspace.cross_entropies[row] =
          softmax_cross_entropy_of_row(args.scores + row * args.score_count, args.score_count,
                                       args.classes[row], args.dscores + row * args.score_count);
    }
  });
  team.for_ranges(args.examples, 1, [&](Range examples) {
    for (std::int64_t n = examples.begin; n < examples.end; ++n) {
      finish_example(args, workspace, n);
    }
  });
  return std::accumulate(workspace.losses, workspace.losses + args.examples, 0.0) /
         static_cast<double>(args.examples);
}

}  // namespace bench::cpu

#include "kernels/cpu/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/channel_passes.h"
#include "kernels/cpu/channel_plan.h"
#include "kernels/cpu/channel_workspace.h"
#include "kernels/cpu/element.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

/// The positions of a pass's vectors in the workspace.
enum Vector : int { kMean, kScale, kShift, kSlope = kShift, kOffset };

/// Rows per f32 sum. The first chunk of a group is short, because it is read twice.
std::int64_t chunk_rows(std::int64_t width, bool first) {
  constexpr std::int64_t kFirstChunkShare = 8;
  const std::int64_t rows = width == 1 ? kSumElements : kSumRows;
  return first ? rows / kFirstChunkShare : rows;
}

/// The same for gradients, many of which may be equal. Repeatedly adding one number rounds the same
/// way each time, and every row of dx has the error of the mean.
std::int64_t gradient_chunk_rows(std::int64_t width) {
  constexpr std::int64_t kGradientRows = 32;
  return width == 1 ? kSumElements : kGradientRows;
}

/// Sets the shift to the mean of the block at x. The sums are zero before and after.
void start_shift(Elements x, RowBlock block, const Accumulators& sums, double* total) {
  std::fill_n(total, block.width, 0.0);
  add_sums(x, block, sums.first);
  flush_sums(block.width, sums.first, total);
  for (std::int64_t column = 0; column < block.width; ++column) {
    sums.shift[column] = static_cast<float>(total[column] / static_cast<double>(block.rows));
  }
}

/// Adds the moments of each group's rows in `rows` to the thread's partials.
void reduce_moments(Elements x, const ChannelTiling& tiling, Range rows,
                    const ChannelWorkspace& workspace, int thread) {
  const std::int64_t width = tiling.width;
  const Accumulators sums = workspace.accumulators(thread);
  std::fill_n(sums.first, accumulator_floats(width), 0.0F);
  std::fill_n(sums.second, accumulator_floats(width), 0.0F);
  std::int64_t group = -1;
  std::int64_t pending = 0;
  Moments moments;
  const auto from = [&](std::int64_t offset) {
    return Elements{.data = element(x.data, x.dtype, offset), .dtype = x.dtype};
  };
  const auto flush = [&] {
    if (pending > 0) {
      merge_moments(pending, width, sums, moments);
      pending = 0;
    }
  };
  for_each_piece(tiling, rows, tiling.all_rows(), [&](const Piece& piece) {
    if (piece.group != group) {
      flush();
      group = piece.group;
      moments = {.count = 0,
                 .mean = workspace.first_partial(thread) + group * width,
                 .m2 = workspace.second_partial(thread) + group * width};
      const std::int64_t first_rows = std::min(piece.rows, chunk_rows(width, true));
      start_shift(from(piece.offset), {.rows = first_rows, .width = width}, sums, moments.mean);
      std::fill_n(moments.mean, width, 0.0);
      std::fill_n(moments.m2, width, 0.0);
    }
    for (std::int64_t done = 0; done < piece.rows;) {
      const std::int64_t chunk = chunk_rows(width, moments.count == 0);
      const std::int64_t take = std::min(piece.rows - done, chunk - pending);
      add_shifted_moments(from(piece.offset + done * width), {.rows = take, .width = width}, sums);
      done += take;
      pending += take;
      if (pending == chunk) {
        flush();
      }
    }
  });
  flush();
}

/// Merges the threads' results for these channels into the first such thread's partials, and
/// returns that thread.
int merge_threads(const GroupChannels& part, const RowPlan& plan,
                  const ChannelWorkspace& workspace) {
  int into = -1;
  double count = 0;
  for (int thread = static_cast<int>(part.threads.begin); thread < part.threads.end; ++thread) {
    const auto rows = static_cast<double>(plan.rows(thread, part.group));
    if (rows == 0) {
      continue;
    }
    count += rows;
    if (into < 0) {
      into = thread;
      continue;
    }
    const double share = rows / count;
    double* const mean = workspace.first_partial(into);
    double* const m2 = workspace.second_partial(into);
    const double* const other_mean = workspace.first_partial(thread);
    const double* const other_m2 = workspace.second_partial(thread);
    for (std::int64_t c = part.channels.begin; c < part.channels.end; ++c) {
      const double delta = other_mean[c] - mean[c];
      mean[c] += delta * share;
      m2[c] += other_m2[c] + delta * delta * (count - rows) * share;
    }
  }
  return into;
}

void normalize_rows(const ChannelTiling& tiling, Range rows, const ChannelWorkspace& workspace,
                    const RowPlan& plan, const Normalize& tensors) {
  for_each_piece_backwards(tiling, rows, plan.piece_rows(), [&](const Piece& piece) {
    const std::int64_t channel = piece.group * tiling.width;
    Normalize args = tensors;
    args.x = element(args.x, args.dtype, piece.offset);
    args.y = element(args.y, args.dtype, piece.offset);
    args.residual = element(args.residual, args.dtype, piece.offset);
    args.mean = workspace.vector(kMean) + channel;
    args.scale = workspace.vector(kScale) + channel;
    args.shift = workspace.vector(kShift) + channel;
    normalize({.rows = piece.rows, .width = tiling.width}, args);
  });
}

double inverse_deviation(double variance, double epsilon) {
  return 1.0 / std::sqrt(variance + epsilon);
}

double or_one(const float* gamma, std::int64_t channel) {
  return gamma == nullptr ? 1.0 : static_cast<double>(gamma[channel]);
}

/// Calls each(channel) for real channels and clears the vectors of padded ones, which must stay 0.
template <class Each>
void for_channels(Range channels, const ChannelTiling& tiling, const ChannelWorkspace& workspace,
                  const Each& each) {
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    if (channel < tiling.channels) {
      each(channel);
    } else {
      for (int which = 0; which < ChannelWorkspace::kVectors; ++which) {
        workspace.vector(which)[channel] = 0;
      }
    }
  }
}

void check_activation(ActivationKind activation) {
  check(batch_norm_carries(activation), "batch norm: the kernels cannot fuse this activation");
}

}  // namespace

float inference_scale(const float* gamma, const float* variance, double epsilon,
                      std::int64_t channel) {
  return static_cast<float>(or_one(gamma, channel) *
                            inverse_deviation(static_cast<double>(variance[channel]), epsilon));
}

bool batch_norm_carries(ActivationKind activation) {
  return activation == ActivationKind::none || activation == ActivationKind::relu ||
         activation == ActivationKind::relu6;
}

void batch_norm_forward(ThreadTeam& team, const BatchNormForward& args) {
  check_activation(args.activation);
  const ChannelTiling tiling = ChannelTiling::joined(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const RowPlan plan(tiling, team.size());
  const auto count = static_cast<double>(tiling.group_rows());
  const auto finish = [&](const GroupChannels& part) {
    const int merged = merge_threads(part, plan, workspace);
    for_channels(part.channels, tiling, workspace, [&](std::int64_t channel) {
      const double exact_mean = workspace.first_partial(merged)[channel];
      const double variance = workspace.second_partial(merged)[channel] / count;
      const auto mean = static_cast<float>(exact_mean);
      const double scale = or_one(args.gamma, channel) * inverse_deviation(variance, args.epsilon);
      args.mean[channel] = mean;
      args.variance[channel] = static_cast<float>(variance);
      workspace.vector(kMean)[channel] = mean;
      workspace.vector(kScale)[channel] = static_cast<float>(scale);
      // The shift holds what the mean lost in rounding.
      workspace.vector(kShift)[channel] =
          static_cast<float>(static_cast<double>(args.beta[channel]) +
                             (static_cast<double>(mean) - exact_mean) * scale);
    });
  };
  reduce_and_apply(
      team, tiling,
      [&](int thread, Range rows) {
        reduce_moments({.data = args.x, .dtype = args.dtype}, tiling, rows, workspace, thread);
      },
      finish,
      [&](Range rows) {
        normalize_rows(tiling, rows, workspace, plan,
                       {.dtype = args.dtype,
                        .x = args.x,
                        .residual = args.residual,
                        .y = args.y,
                        .activation = args.activation});
      });
}

void batch_norm_inference(ThreadTeam& team, const BatchNormInference& args) {
  check_activation(args.activation);
  const ChannelTiling tiling = ChannelTiling::joined(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const RowPlan plan(tiling, team.size());
  const auto finish = [&](const GroupChannels& part) {
    for_channels(part.channels, tiling, workspace, [&](std::int64_t channel) {
      workspace.vector(kMean)[channel] = args.mean[channel];
      workspace.vector(kScale)[channel] =
          inference_scale(args.gamma, args.variance, args.epsilon, channel);
      workspace.vector(kShift)[channel] = args.beta[channel];
    });
  };
  reduce_and_apply(
      team, tiling, [](int, Range) {}, finish,
      [&](Range rows) {
        normalize_rows(tiling, rows, workspace, plan,
                       {.dtype = args.dtype,
                        .x = args.x,
                        .residual = args.residual,
                        .y = args.y,
                        .activation = args.activation});
      });
}

namespace {

/// Where the first pass writes dz for the second one; null if it does not.
void* place_of_dz(const BatchNormBackward& args) {
  if (args.dresidual != nullptr) {
    return args.dresidual;
  }
  return args.second_dy != nullptr ? args.dx : nullptr;
}

/// Adds sums of dz and dz * (x - mean) of each group's rows in `rows` to the thread's partials.
void reduce_gradients(const BatchNormBackward& args, const ChannelTiling& tiling, Range rows,
                      const ChannelWorkspace& workspace, int thread) {
  const std::int64_t width = tiling.width;
  const std::int64_t chunk = gradient_chunk_rows(width);
  const Accumulators sums = workspace.accumulators(thread);
  std::fill_n(sums.first, accumulator_floats(width), 0.0F);
  std::fill_n(sums.second, accumulator_floats(width), 0.0F);
  std::int64_t group = -1;
  std::int64_t pending = 0;
  double* first = nullptr;
  double* second = nullptr;
  const auto flush = [&] {
    if (pending > 0) {
      flush_sums(width, sums.first, first);
      flush_sums(width, sums.second, second);
      pending = 0;
    }
  };
  // If dz is dy, in the same memory, there is nothing to write.
  const bool masked = args.activation != ActivationKind::none;
  void* const dz = place_of_dz(args);
  const bool write = dz != nullptr && (dz != args.dy || masked || args.second_dy != nullptr);
  const DType dtype = args.dtype;
  for_each_piece(tiling, rows, tiling.all_rows(), [&](const Piece& piece) {
    if (piece.group != group) {
      flush();
      group = piece.group;
      first = workspace.first_partial(thread) + group * width;
      second = workspace.second_partial(thread) + group * width;
      std::fill_n(first, width, 0.0);
      std::fill_n(second, width, 0.0);
      // The given vector ends at the last real channel; the accumulator's padding reads zeros.
      const std::int64_t channel = group * width;
      const std::int64_t real = std::min(width, tiling.channels - channel);
      std::copy_n(args.mean + channel, real, sums.shift);
      std::fill(sums.shift + real, sums.shift + width, 0.0F);
    }
    for (std::int64_t done = 0; done < piece.rows;) {
      const std::int64_t take = std::min(piece.rows - done, chunk - pending);
      const std::int64_t at = piece.offset + done * width;
      add_gradient_sums({.rows = take, .width = width},
                        {.dtype = dtype,
                         .dy = element(args.dy, dtype, at),
                         .second_dy = element(args.second_dy, dtype, at),
                         .x = element(args.x, dtype, at),
                         .y = masked ? element(args.y, dtype, at) : nullptr,
                         .activation = args.activation,
                         .dz = write ? element(dz, dtype, at) : nullptr,
                         .mean = sums.shift,
                         .first = sums.first,
                         .second = sums.second});
      done += take;
      pending += take;
      if (pending == chunk) {
        flush();
      }
    }
  });
  flush();
}

}  // namespace

void batch_norm_backward(ThreadTeam& team, const BatchNormBackward& args) {
  check_activation(args.activation);
  const ChannelTiling tiling = ChannelTiling::joined(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const RowPlan plan(tiling, team.size());
  const auto count = static_cast<double>(tiling.group_rows());
  const auto finish = [&](const GroupChannels& part) {
    const int merged = sum_threads(part, plan, workspace);
    for_channels(part.channels, tiling, workspace, [&](std::int64_t channel) {
      const double sum_dz = workspace.first_partial(merged)[channel];
      const double sum_dz_centred = workspace.second_partial(merged)[channel];
      const double inverse =
          inverse_deviation(static_cast<double>(args.variance[channel]), args.epsilon);
      const double scale = or_one(args.gamma, channel) * inverse;
      args.dbeta[channel] = static_cast<float>(sum_dz);
      if (args.dgamma != nullptr) {
        args.dgamma[channel] = static_cast<float>(sum_dz_centred * inverse);
      }
      workspace.vector(kMean)[channel] = args.mean[channel];
      workspace.vector(kScale)[channel] = static_cast<float>(scale);
      workspace.vector(kSlope)[channel] =
          static_cast<float>(scale * inverse * inverse * sum_dz_centred / count);
      workspace.vector(kOffset)[channel] = static_cast<float>(scale * sum_dz / count);
    });
  };
  // The first pass's result is already masked.
  const void* const left = place_of_dz(args);
  const ActivationKind activation = left == nullptr ? args.activation : ActivationKind::none;
  const void* const dz = left == nullptr ? args.dy : left;
  const void* const y = activation == ActivationKind::none ? nullptr : args.y;
  const DType dtype = args.dtype;
  const auto apply = [&](Range rows) {
    for_each_piece_backwards(tiling, rows, plan.piece_rows(), [&](const Piece& piece) {
      const std::int64_t channel = piece.group * tiling.width;
      input_gradient({.rows = piece.rows, .width = tiling.width},
                     {.dtype = dtype,
                      .dy = element(dz, dtype, piece.offset),
                      .x = element(args.x, dtype, piece.offset),
                      .y = element(y, dtype, piece.offset),
                      .activation = activation,
                      .dx = element(args.dx, dtype, piece.offset),
                      .mean = workspace.vector(kMean) + channel,
                      .scale = workspace.vector(kScale) + channel,
                      .slope = workspace.vector(kSlope) + channel,
                      .offset = workspace.vector(kOffset) + channel});
    });
  };
  reduce_and_apply(
      team, tiling,
      [&](int thread, Range rows) { reduce_gradients(args, tiling, rows, workspace, thread); },
      finish, apply);
}

}  // namespace bench::cpu

#pragma once

#include <span>
#include <vector>

#include "kernels/cases/kernel_case.h"

namespace bench {

// The shapes every backend is tested and measured with, one list and one file per op.
std::span<const KernelCase> activation_cases();
std::span<const KernelCase> add_cases();
std::span<const KernelCase> avg_pool_cases();
/// Training and inference.
std::span<const KernelCase> batch_norm_cases();
std::span<const KernelCase> bias_add_cases();
std::span<const KernelCase> cast_cases();
std::span<const KernelCase> channel_pad_cases();
std::span<const KernelCase> channel_scale_cases();
std::span<const KernelCase> channel_shuffle_cases();
std::span<const KernelCase> channel_slice_cases();
std::span<const KernelCase> concat_cases();
std::span<const KernelCase> conv2d_cases();
std::span<const KernelCase> drop_path_cases();
std::span<const KernelCase> dropout_cases();
std::span<const KernelCase> flatten_cases();
std::span<const KernelCase> fully_connected_cases();
std::span<const KernelCase> l2_loss_cases();
std::span<const KernelCase> lrn_cases();
std::span<const KernelCase> max_pool_cases();
std::span<const KernelCase> moving_average_cases();
/// Ops on u8 and s8, and the ops that take quanta as they are.
std::span<const KernelCase> quantized_cases();
std::span<const KernelCase> softmax_cross_entropy_cases();
std::span<const KernelCase> spatial_mean_cases();
std::span<const KernelCase> spatial_pad_cases();
std::span<const KernelCase> top_k_accuracy_cases();

/// All of them.
std::vector<KernelCase> all_cases();

}  // namespace bench

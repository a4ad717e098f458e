#include "kernels/cases/cases.h"

namespace bench {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> all;
  for (const auto cases : {activation_cases(),      add_cases(),
                           avg_pool_cases(),        batch_norm_cases(),
                           bias_add_cases(),        cast_cases(),
                           channel_pad_cases(),     channel_scale_cases(),
                           channel_shuffle_cases(), channel_slice_cases(),
                           concat_cases(),          conv2d_cases(),
                           drop_path_cases(),       dropout_cases(),
                           flatten_cases(),         fully_connected_cases(),
                           l2_loss_cases(),         lrn_cases(),
                           max_pool_cases(),        moving_average_cases(),
                           quantized_cases(),       softmax_cross_entropy_cases(),
                           spatial_mean_cases(),    spatial_pad_cases(),
                           top_k_accuracy_cases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace bench

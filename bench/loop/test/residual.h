#pragma once

#include "bench/plan/settings.h"
#include "models/zoo/builder.h"

namespace bench {

/// A sum of two paths, with batch norm and dropout.
inline ValueId build_residual(NetworkBuilder& net, ValueId x) {
  x = net.conv("conv", x, {.channels = 8, .window = {.kernel = 3, .stride = 2}, .bias = false});
  x = net.relu("relu", net.batch_norm("norm", x, {.scale = true}));
  const ValueId y = net.conv("branch", x, {.channels = 8, .window = {.kernel = 3}});
  x = net.relu("sum_relu", net.add("sum", y, x));
  x = net.dropout("dropout", net.flatten("flatten", x), 0.5);
  return net.head(x);
}

inline constexpr Model kResidual{.name = "residual",
                                 .printed_name = "residual",
                                 .dataset = "cifar10",
                                 .image_size = 8,
                                 .default_batch = 4,
                                 .rate = ModelRate::constant,
                                 .build = build_residual};

inline RunSettings residual(DType dtype = DType::f32) {
  RunSettings settings;
  settings.workload.model = &kResidual;
  settings.workload.dataset = &dataset_named("cifar10");
  settings.execution.device = RunDevice::reference;
  settings.workload.dtype = dtype;
  settings.workload.batch = kResidual.default_batch;
  settings.workload.image_size = kResidual.image_size;
  settings.workload.num_classes = 5;
  settings.execution.warmup.num_batches = 1;
  settings.execution.steps = {.num_batches = 5, .num_epochs = 0};
  settings.workload.optimizer.weight_decay = 1e-3;
  settings.workload.learning_rate.request.init_learning_rate = 1e-4;
  return settings;
}

}  // namespace bench

# Shapes as data, shared by tests and benchmarks.
bench_library(bench_cases
  SOURCES
    cases/activation.cc
    cases/add.cc
    cases/avg_pool.cc
    cases/batch_norm.cc
    cases/bias_add.cc
    cases/cases.cc
    cases/cast.cc
    cases/channel_pad.cc
    cases/channel_scale.cc
    cases/channel_shuffle.cc
    cases/channel_slice.cc
    cases/concat.cc
    cases/conv2d.cc
    cases/drop_path.cc
    cases/dropout.cc
    cases/flatten.cc
    cases/fully_connected.cc
    cases/kernel_case.cc
    cases/l2_loss.cc
    cases/lrn.cc
    cases/max_pool.cc
    cases/moving_average.cc
    cases/quantized.cc
    cases/softmax_cross_entropy.cc
    cases/spatial_mean.cc
    cases/spatial_pad.cc
    cases/top_k_accuracy.cc
  HEADERS cases/cases.h cases/kernel_case.h
  LINK bench_ops)

bench_library(bench_cpu_kernels SEPARATE
  SOURCES
    cpu/activation.cc
    cpu/batch_norm.cc
    cpu/bias.cc
    cpu/cast.cc
    cpu/channel_passes.cc
    cpu/channel_scale.cc
    cpu/channel_shuffle.cc
    cpu/channel_view.cc
    cpu/channel_workspace.cc
    cpu/depthwise_gradient.cc
    cpu/drop_path.cc
    cpu/dropout.cc
    cpu/elementwise.cc
    cpu/filter_gradient.cc
    cpu/filter_gradient_rows.cc
    cpu/join_rows.cc
    cpu/loss.cc
    cpu/lrn.cc
    cpu/optimizer.cc
    cpu/spatial_mean.cc
    cpu/spatial_pad.cc
    cpu/thread_team.cc
    cpu/tile_copy.cc
  HEADERS
    cpu/activation.h
    cpu/batch_norm.h
    cpu/bias.h
    cpu/cast.h
    cpu/channel_passes.h
    cpu/channel_plan.h
    cpu/channel_scale.h
    cpu/channel_shuffle.h
    cpu/channel_tiles.h
    cpu/channel_view.h
    cpu/channel_workspace.h
    cpu/depthwise_gradient.h
    cpu/depthwise_row.h
    cpu/drop_path.h
    cpu/dropout.h
    cpu/dropout_columns.h
    cpu/element.h
    cpu/elementwise.h
    cpu/filter_gradient.h
    cpu/filter_gradient_rows.h
    cpu/join_rows.h
    cpu/loss.h
    cpu/lrn.h
    cpu/lrn_slab.h
    cpu/optimizer.h
    cpu/spatial_mean.h
    cpu/spatial_pad.h
    cpu/thread_team.h
    cpu/tile_copy.h
  LINK bench_base bench_optimizer
  PRIVATE_LINK bench_cpu_host hwy::hwy OpenMP::OpenMP_CXX)
get_target_property(vector_files bench_cpu_kernels SOURCES)
bench_vector_files(${vector_files})

bench_test(cpu_kernels_test SEPARATE LABELS quick
  SOURCES
    cpu/test/activation_test.cc
    cpu/test/batch_norm_backward_test.cc
    cpu/test/batch_norm_test.cc
    cpu/test/cast_test.cc
    cpu/test/channel_kernels_test.cc
    cpu/test/channel_ops_test.cc
    cpu/test/channel_view_test.cc
    cpu/test/depthwise_gradient_test.cc
    cpu/test/dropout_test.cc
    cpu/test/elementwise_test.cc
    cpu/test/filter_gradient_test.cc
    cpu/test/kernel_test.cc
    cpu/test/loss_test.cc
    cpu/test/lrn_test.cc
    cpu/test/optimizer_test.cc
    cpu/test/thread_team_test.cc
    cpu/test/tile_copy_test.cc
  LINK bench_cpu_kernels bench_cpu_host hwy::hwy)
# Teams larger than the machine must not spin while they wait.
set_tests_properties(cpu_kernels_test PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)

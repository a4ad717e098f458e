# The oracle: all ops with Eigen, in double.
bench_library(bench_reference
  SOURCES
    reference/activation.cc
    reference/batch_norm.cc
    reference/channels.cc
    reference/conv2d.cc
    reference/drop_path.cc
    reference/elementwise.cc
    reference/fully_connected.cc
    reference/losses.cc
    reference/lrn.cc
    reference/optimizer.cc
    reference/pool.cc
    reference/product.cc
    reference/quantized.cc
    reference/reference_backend.cc
    reference/storage.cc
  HEADERS
    reference/operations.h
    reference/optimizer.h
    reference/product.h
    reference/reference_backend.h
    reference/storage.h
    reference/tensor.h
    reference/window.h
    reference/crew.h
  LINK bench_runtime Eigen3::Eigen
  PRIVATE_LINK hwy::hwy)

bench_test(reference_test LABELS quick
  SOURCES reference/test/channels_test.cc reference/test/crew_test.cc
          reference/test/product_test.cc reference/test/reference_backend_test.cc
          reference/test/reference_kernels_test.cc
  LINK bench_case_runner)

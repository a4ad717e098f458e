# The oracle: all ops with Eigen, in double.
bench_library(bench_reference
  FOLDER reference
  LINK bench_runtime Eigen3::Eigen
  PRIVATE_LINK hwy::hwy)
bench_vector_files(reference/product.cc)
# For the emulated GPU, which is a library that programs open.
set_target_properties(bench_reference PROPERTIES POSITION_INDEPENDENT_CODE ON)

bench_test(reference_test SEPARATE LABELS quick
  SOURCES reference/test/channels_test.cc reference/test/crew_test.cc
          reference/test/ctc_loss_test.cc
          reference/test/product_test.cc reference/test/reference_backend_test.cc
          reference/test/reference_kernels_test.cc reference/test/rnn_torch_test.cc
  LINK bench_case_runner bench_files)
target_compile_definitions(reference_test PRIVATE
  BENCH_TORCH_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/reference/test/torch")

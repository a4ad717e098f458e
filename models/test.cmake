bench_test(models_test LABELS quick
  SOURCES
    ir/test/attributes_test.cc
    ir/test/graph_test.cc
    ops/test/shape_rules_test.cc
    passes/test/backward_test.cc
    passes/test/fold_batch_norm_test.cc
    passes/test/fuse_test.cc
    passes/test/gather_averages_test.cc
    passes/test/gradient_sums_test.cc
    passes/test/mixed_precision_test.cc
    passes/test/quantize_test.cc
    passes/test/rewrite_test.cc
  LINK bench_models)

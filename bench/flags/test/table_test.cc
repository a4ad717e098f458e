#include "bench/flags/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench {
namespace {

// The flags of tf_cnn_benchmarks' main module, section by section.
constexpr std::string_view kOriginalFlags =
    // What to run.
    "model eval eval_interval_secs eval_during_training_every_n_steps "
    "eval_during_training_every_n_epochs eval_during_training_at_specified_steps "
    "eval_during_training_at_specified_epochs forward_only freeze_when_forward_only "
    "print_training_accuracy batch_size eval_batch_size batch_group_size num_batches num_epochs "
    "num_eval_batches num_eval_epochs num_warmup_batches stop_at_top_1_accuracy "
    "collect_eval_results_async num_gpus gpu_indices device data_format display_every "
    "display_perf_ewma loss_type_to_report tf_random_seed sync_on_finish "
    // Data.
    "data_dir data_name resize_method distortions distort_color_in_yiq fuse_decode_and_crop "
    "use_datasets input_preprocessor ml_perf datasets_repeat_cached_sample datasets_use_prefetch "
    "datasets_prefetch_buffer_size datasets_num_private_threads datasets_use_caching "
    "datasets_parallel_interleave_cycle_length datasets_sloppy_parallel_interleave "
    "datasets_parallel_interleave_prefetch multi_device_iterator_max_buffer_size "
    "use_python32_barrier "
    // Learning rate and optimizer.
    "optimizer init_learning_rate piecewise_learning_rate_schedule num_epochs_per_decay "
    "learning_rate_decay_factor minimum_learning_rate num_learning_rate_warmup_epochs "
    "resnet_base_lr momentum rmsprop_decay rmsprop_momentum rmsprop_epsilon adam_beta1 adam_beta2 "
    "adam_epsilon gradient_clip weight_decay single_l2_loss_op compute_lr_on_cpu "
    "sparse_to_dense_grads "
    // Half precision.
    "use_fp16 fp16_vars fp16_loss_scale fp16_enable_auto_loss_scale fp16_inc_loss_scale_every_n "
    // Variables, reduction, cluster.
    "variable_update all_reduce_spec agg_small_grads_max_bytes agg_small_grads_max_group "
    "allreduce_merge_scope gradient_repacking compact_gradient_transfer hierarchical_copy "
    "network_topology variable_consistency local_parameter_device staged_vars job_name task_index "
    "ps_hosts worker_hosts controller_host server_protocol cross_replica_sync horovod_device "
    "use_resource_vars "
    // Performance.
    "num_intra_threads num_inter_threads use_numa_affinity gpu_thread_mode per_gpu_thread_count "
    "mkl kmp_blocktime kmp_affinity kmp_settings winograd_nonfused batchnorm_persistent "
    "autotune_threshold force_gpu_compatible allow_growth gpu_memory_frac_for_testing "
    "use_unified_memory timestamped_allocator gpu_kt_max_interval gpu_kt_max_bytes "
    "gpu_kt_max_pending xla xla_compile enable_optimizations rewriter_config use_tf_layers "
    "trt_mode "
    "trt_max_workspace_size_bytes "
    // Output, traces, checkpoints.
    "trace_file use_chrome_trace_format tfprof_file graph_file partitioned_graph_file_prefix "
    "debugger summary_verbosity save_summaries_steps save_model_secs save_model_steps "
    "max_ckpts_to_keep train_dir eval_dir backbone_model_path benchmark_log_dir benchmark_test_id";

std::vector<std::string_view> originals_in_table() {
  std::vector<std::string_view> names;
  for (const FlagRow& row : flag_table()) {
    if (row.group != FlagGroup::kOwn) {
      names.push_back(row.name);
    }
  }
  return names;
}

std::string_view default_of(std::string_view flag) {
  const FlagRow* row = find_flag(flag);
  return row != nullptr && row->default_text ? *row->default_text : "unset";
}

TEST(FlagTable, HasThe137FlagsOfTheOriginal) {
  const std::vector<std::string_view> original = split_words(kOriginalFlags);
  EXPECT_EQ(original.size(), 137);
  std::vector<std::string_view> expected = original;
  expected.push_back("ml_perf_compliance_logging");  // from the original's main script
  EXPECT_THAT(originals_in_table(), testing::UnorderedElementsAreArray(expected));
}

TEST(FlagTable, HasOurAdditionalFlagsInOneGroup) {
  for (const FlagRow& row : flag_table()) {
    EXPECT_EQ(row.verdict == FlagVerdict::kNew, row.group == FlagGroup::kOwn) << row.name;
  }
}

TEST(FlagTable, NamesNothingTwice) {
  std::set<std::string_view> names;
  for (const FlagRow& row : flag_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(FlagTable, KeepsGroupsTogether) {
  std::set<FlagGroup> ended;
  const FlagRow* before = nullptr;
  for (const FlagRow& row : flag_table()) {
    if (before != nullptr && before->group != row.group) {
      ended.insert(before->group);
    }
    EXPECT_FALSE(ended.contains(row.group)) << row.name;
    before = &row;
  }
}

TEST(FlagTable, HasTheOriginalsDefaults) {
  EXPECT_EQ(default_of("model"), "trivial");
  EXPECT_EQ(default_of("num_batches"), "unset");
  EXPECT_EQ(default_of("device"), "unset");
  EXPECT_EQ(default_of("display_every"), "10");
  EXPECT_EQ(default_of("tf_random_seed"), "1234");
  EXPECT_EQ(default_of("fuse_decode_and_crop"), "true");
  EXPECT_EQ(default_of("rmsprop_epsilon"), "1.0");
  EXPECT_EQ(default_of("weight_decay"), "4e-5");
  EXPECT_EQ(default_of("job_name"), "");
  EXPECT_EQ(default_of("kmp_affinity"), "granularity=fine,verbose,compact,1,0");
  EXPECT_EQ(default_of("trt_max_workspace_size_bytes"), "4294967296");
}

TEST(FlagTable, HasASupportedDefaultIfTheOriginalsIsNotBuilt) {
  EXPECT_EQ(default_of("compact_gradient_transfer"), "false");
}

TEST(FlagTable, DoesNotCountFlagsThatARerunNeedsAsOutput) {
  EXPECT_EQ(find_flag("init_from")->effect, FlagEffect::kWorkload);
  EXPECT_EQ(find_flag("init_from_partial")->effect, FlagEffect::kWorkload);
  EXPECT_EQ(find_flag("max_seconds")->effect, FlagEffect::kExecution);
  EXPECT_EQ(find_flag("label")->effect, FlagEffect::kOutputOnly);
}

TEST(FlagTable, GivesAReasonForEveryUnsupportedFlag) {
  for (const FlagRow& row : flag_table()) {
    const bool noticed = !row.support.no_effect.empty();
    if (row.verdict == FlagVerdict::kIgnored) {
      EXPECT_TRUE(noticed) << row.name;
      EXPECT_FALSE(row.support.refuses()) << row.name;
    }
    if (row.verdict == FlagVerdict::kNotApplicable) {
      EXPECT_TRUE(noticed || row.support.refuses()) << row.name;
    }
  }
}

TEST(FlagTable, HasSynonymsForAcceptedValuesOnly) {
  for (const FlagRow& row : flag_table()) {
    const std::vector<std::string_view> accepted = split_words(row.accepted.values);
    for (const Synonym& synonym : synonyms_of(row.accepted)) {
      EXPECT_THAT(accepted, testing::Contains(synonym.value)) << row.name;
      EXPECT_THAT(accepted, testing::Not(testing::Contains(synonym.word))) << row.name;
    }
  }
}

TEST(FindFlag, IsNullForUnknownNames) {
  EXPECT_EQ(find_flag("fromenv"), nullptr);
  EXPECT_EQ(find_flag(""), nullptr);
}

TEST(DescribeAccepted, SaysTypeAndBounds) {
  EXPECT_EQ(describe_accepted(*find_flag("eval")), "true or false");
  EXPECT_EQ(describe_accepted(*find_flag("display_every")), "a whole number of at least 1");
  EXPECT_EQ(describe_accepted(*find_flag("display_perf_ewma")), "a number from 0 to 1");
  EXPECT_EQ(describe_accepted(*find_flag("max_seconds")), "a number above 0");
  EXPECT_EQ(describe_accepted(*find_flag("label_smoothing")), "a number from 0 to below 1");
  EXPECT_EQ(describe_accepted(*find_flag("tf_random_seed")), "a whole number");
  EXPECT_EQ(describe_accepted(*find_flag("autotune")), "one of off, quick, full");
  EXPECT_EQ(describe_accepted(*find_flag("dump")),
            "a comma-separated list of graph, plan, choices, fusions");
}

TEST(DescribeValues, PutsRefusedValuesInBrackets) {
  EXPECT_EQ(describe_values(*find_flag("dump")), "graph, plan, choices, fusions");
  EXPECT_EQ(describe_values(*find_flag("device")), "cpu, gpu, reference");
  EXPECT_EQ(describe_values(*find_flag("job_name")),
            "none (not applicable: ps, worker, controller)");
  EXPECT_EQ(describe_values(*find_flag("server_protocol")),
            "grpc (not applicable: grpc+verbs, grpc+gdr, grpc+mpi)");
}

TEST(SplitText, KeepsEmptyParts) {
  using testing::ElementsAre;
  EXPECT_THAT(split_text("", ','), testing::IsEmpty());
  EXPECT_THAT(split_text("a", ','), ElementsAre("a"));
  EXPECT_THAT(split_text("a,,b,", ','), ElementsAre("a", "", "b", ""));
}

}  // namespace
}  // namespace bench

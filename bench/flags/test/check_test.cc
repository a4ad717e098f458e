#include "bench/flags/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/flags/combinations.h"
#include "bench/flags/test/usage_error.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Texts within a flag's type and bounds, except an enumerated flag's other values.
std::vector<std::string> sample_texts(const FlagRow& row) {
  switch (row.type) {
    case FlagType::kBool:
      return {"true", "false"};
    case FlagType::kInt64:
    case FlagType::kDouble:
      return {"1", "2", "3"};
    case FlagType::kList:
      return {"3,5"};
    case FlagType::kString:
      break;
  }
  std::vector<std::string> texts = {"some:1"};
  if (!row.accepted.values.empty()) {
    const std::vector<std::string_view> values = split_words(row.accepted.values);
    texts.assign(values.begin(), values.end());
  }
  return texts;
}

// The message of check_support for `text`; empty if it accepts the text.
std::string judged(const FlagRow& row, const std::string& text) {
  const TypedFlags typed = type_flags({{.row = &row, .text = text}});
  try {
    check_support({.row = &row, .text = text}, typed.values.front());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool is_default(const FlagRow& row, const std::string& text) {
  return type_flags({{.row = &row, .text = text}}).values.front().is_default;
}

TEST(CheckSupport, AlwaysAcceptsADefault) {
  for (const FlagRow& row : flag_table()) {
    if (row.default_text) {
      const std::string text(*row.default_text);
      EXPECT_TRUE(is_default(row, text)) << row.name;
      EXPECT_EQ(judged(row, text), "") << row.name;
    }
  }
}

TEST(CheckSupport, RefusesOtherValuesOfRefusedFlags) {
  for (const FlagRow& row : flag_table()) {
    if (!row.support.refuses()) {
      continue;
    }
    int refused = 0;
    for (const std::string& text : sample_texts(row)) {
      if (!is_default(row, text) && text != row.support.idle_value) {
        EXPECT_THAT(judged(row, text), HasSubstr(refusal_of(row.support))) << row.name;
        EXPECT_THAT(judged(row, text), HasSubstr(std::string(row.name))) << row.name;
        ++refused;
      }
    }
    EXPECT_GT(refused, 0) << row.name;
  }
}

TEST(CheckSupport, AcceptsEveryValueOfOtherFlags) {
  for (const FlagRow& row : flag_table()) {
    if (!row.support.refuses()) {
      for (const std::string& text : sample_texts(row)) {
        EXPECT_EQ(judged(row, text), "") << row.name;
      }
    }
  }
}

TEST(ParseFlags, AcceptsAValueInAnyCaseOrAnExistingFile) {
  const ScratchFolder folder;
  const std::string file = folder.path() / "Card.json";
  EXPECT_EQ(parse({"--plan_for=SM_90", "--dump=plan"}).flags.plan_for, "sm_90");
  EXPECT_THAT(refusal({fmt::format("--plan_for={}", file), "--dump=plan"}),
              HasSubstr("Card.json: unknown value; accepted: an existing file, or one of sm_75, "));
  std::ofstream(file) << "{}";
  EXPECT_EQ(parse({fmt::format("--plan_for={}", file), "--dump=plan"}).flags.plan_for, file);
  EXPECT_EQ(refusal({"--plan_for"}),
            "--plan_for needs a value: sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, "
            "sm_110, sm_120, sm_121; or a file that describes a card");
}

TEST(ParseFlags, AcceptsDefaultsWrittenOut) {
  std::vector<std::string> arguments;
  for (const FlagRow& row : flag_table()) {
    if (row.default_text && row.type != FlagType::kList) {
      arguments.push_back(fmt::format("--{}={}", row.name, *row.default_text));
    }
  }
  EXPECT_NO_THROW(parse({arguments.begin(), arguments.end()}));
}

TEST(ParseFlags, SaysWhyAValueIsRefusedAndWhatToUse) {
  EXPECT_EQ(refusal({"--server_protocol=grpc+mpi"}),
            "--server_protocol=grpc+mpi: not applicable: MPI carries all communication between "
            "processes; only --server_protocol=grpc is accepted");
}

TEST(ParseFlags, NamesAConflictBeforeARefusedFlag) {
  EXPECT_EQ(refusal({"--eval", "--forward_only", "--server_protocol=grpc+mpi"}),
            "--forward_only and --eval are mutually exclusive. Also: --server_protocol=grpc+mpi: "
            "not applicable: MPI carries all communication between processes; "
            "only --server_protocol=grpc is accepted");
}

TEST(ParseFlags, AcceptsIdleValuesOfRefusedFlags) {
  const ParseResult result = parse({"--all_reduce_spec=", "--nouse_unified_memory"});
  EXPECT_THAT(result.notices, IsEmpty());
  EXPECT_THAT(refusal({"--use_unified_memory=true"}), HasSubstr("not applicable"));
}

TEST(ParseFlags, ReportsFlagsWithoutEffect) {
  EXPECT_THAT(parse({"--num_inter_threads=2"}).notices,
              ElementsAre("--num_inter_threads: no effect: the layers of a step run one after "
                          "another, each on all threads"));
  EXPECT_THAT(
      parse({"--kmp_blocktime=1", "--nouse_datasets", "--allow_growth"}).notices,
      ElementsAre(HasSubstr("no effect: "), HasSubstr("no effect: "), HasSubstr("no effect: ")));
}

TEST(ParseFlags, SaysWhyAFlagCannotApply) {
  EXPECT_EQ(refusal({"--xla"}),
            "--xla: not applicable: bench has no TensorFlow graph for XLA to compile; only "
            "--noxla is accepted");
  EXPECT_EQ(refusal({"--graph_file=x"}),
            "--graph_file=x: not applicable: bench has no TensorFlow graph; --dump=graph prints "
            "bench's graph; omit it");
  EXPECT_EQ(refusal({"--tfprof_file=x"}),
            "--tfprof_file=x: not applicable: --profile prints the time of every kernel; omit it");
  EXPECT_THAT(refusal({"--server_protocol=grpc+gdr"}), HasSubstr("MPI carries all"));
  EXPECT_THAT(refusal({"--nouse_chrome_trace_format"}), HasSubstr("only in Chrome's format"));
}

TEST(ParseFlags, NoticesOnceWhatHasNoEffect) {
  EXPECT_THAT(parse({"--use_tf_layers=false", "--use_tf_layers=false"}).notices,
              ElementsAre("--use_tf_layers: no effect: bench builds layers in only one way, with "
                          "the same results"));
  EXPECT_THAT(parse({"--gpu_kt_max_bytes=5"}).notices, ElementsAre(HasSubstr("no effect")));
  EXPECT_THAT(parse({"--server_protocol=grpc"}).notices, ElementsAre(HasSubstr("MPI")));
  EXPECT_THAT(parse({"--mkl"}).notices, ElementsAre(HasSubstr("oneDNN")));
  EXPECT_THAT(parse({"--noxla"}).notices, IsEmpty());
}

TEST(ParseFlags, NoticesEveryIgnoredFlag) {
  for (const FlagRow& row : flag_table()) {
    if (row.verdict == FlagVerdict::kIgnored) {
      // A flag without a default is a switch or a number.
      const std::string_view value =
          row.default_text.value_or(row.type == FlagType::kBool ? "true" : "1");
      const std::string argument = fmt::format("--{}={}", row.name, value);
      EXPECT_THAT(parse({argument}).notices,
                  ElementsAre(testing::StartsWith(fmt::format("--{}: no effect: ", row.name))));
    }
  }
}

TEST(ParseFlags, TakesWhatThisVersionDoes) {
  const ParseResult result = parse({"--model=resnet50_v1.5",
                                    "--device=reference",
                                    "--data_format=auto",
                                    "--batch_size=8",
                                    "--num_batches=20",
                                    "--num_warmup_batches=2",
                                    "--num_gpus=1",
                                    "--display_every=1",
                                    "--print_training_accuracy",
                                    "--loss_type_to_report=base_loss",
                                    "--tf_random_seed=7",
                                    "--data_dir=x/imagenet",
                                    "--data_name=imagenet",
                                    "--resize_method=crop",
                                    "--nofuse_decode_and_crop",
                                    "--datasets_repeat_cached_sample",
                                    "--datasets_num_private_threads=2",
                                    "--datasets_use_caching",
                                    "--datasets_parallel_interleave_cycle_length=4",
                                    "--optimizer=momentum",
                                    "--init_learning_rate=0.1",
                                    "--num_epochs_per_decay=2",
                                    "--learning_rate_decay_factor=0.5",
                                    "--minimum_learning_rate=0.01",
                                    "--num_learning_rate_warmup_epochs=1",
                                    "--resnet_base_lr=0.2",
                                    "--momentum=0.8",
                                    "--gradient_clip=5",
                                    "--weight_decay=1e-4",
                                    "--num_intra_threads=2",
                                    "--variable_update=replicated",
                                    "--local_parameter_device=cpu",
                                    "--num_classes=10",
                                    "--max_seconds=60",
                                    "--result_file=r.json"});
  EXPECT_THAT(result.notices, IsEmpty());
  EXPECT_EQ(result.flags.resize_method, "crop");
  EXPECT_EQ(result.flags.gradient_clip, 5);
}

}  // namespace
}  // namespace bench

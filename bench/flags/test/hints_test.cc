#include "bench/flags/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags/table.h"
#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(FlagsMeantBy, KnowTheWordsOfOtherPrograms) {
  EXPECT_THAT(flags_meant_by("lr"), ElementsAre("--init_learning_rate"));
  EXPECT_THAT(flags_meant_by("bs"), ElementsAre("--batch_size"));
  EXPECT_THAT(flags_meant_by("fp16"), ElementsAre("--use_fp16", "--dtype=f16"));
  EXPECT_THAT(flags_meant_by("quux"), IsEmpty());
}

TEST(FlagsMeantBy, AreFlagsAndTheWordsAreNot) {
  for (const std::string_view word :
       {"lr",         "bs",        "b",          "steps",   "epochs",        "amp",
        "fp16",       "bf16",      "gpus",       "threads", "workers",       "j",
        "seed",       "arch",      "a",          "warmup",  "channels_last", "cpu",
        "cuda",       "wd",        "opt",        "data",    "dataset",       "img_size",
        "print_freq", "resume",    "pretrained", "output",  "trace",         "list",
        "int8",       "precision", "inference",  "seconds", "iters",         "num_classes_",
        "resnet50"}) {
    const std::string message = refusal({fmt::format("--{}=1", word)});
    EXPECT_THAT(message, HasSubstr("unknown flag; did you mean --")) << word;
    for (const std::string_view flag : flags_meant_by(word)) {
      const std::string name(flag.substr(2, flag.find('=') - 2));
      ASSERT_NE(find_flag(name), nullptr) << flag;
      if (flag.find('=') != std::string_view::npos) {
        EXPECT_NO_THROW(parse({flag, "--help"})) << flag;
      }
    }
  }
}

TEST(FlagsMeantBy, DoNotHideAFlag) {
  for (const FlagRow& row : flag_table()) {
    EXPECT_THAT(flags_meant_by(row.name), IsEmpty()) << row.name;
    EXPECT_THAT(why_no_flag(row.name), IsEmpty()) << row.name;
  }
}

TEST(WhyNoFlag, ExplainsWhatToDoInstead) {
  EXPECT_EQ(refusal({"--compile"}),
            "--compile: unknown flag; every network is planned and fused before it runs: omit it");
  for (const std::string_view flag : {"--bench=inference", "--bench=train", "--bench=both"}) {
    EXPECT_EQ(
        refusal({flag}),
        "--bench: unknown flag; a run measures training, or inference with --forward_only; to "
        "measure both, run twice");
  }
  EXPECT_THAT(why_no_flag("quux"), IsEmpty());
}

TEST(ValueMeantBy, OmitsTheWordsThatAreAccepted) {
  for (const FlagRow& row : flag_table()) {
    for (const Synonym& synonym : synonyms_of(row.accepted)) {
      EXPECT_EQ(value_meant_by(row.name, synonym.word), "") << synonym.word;
    }
  }
}

TEST(ValueMeantBy, KnowsOtherNamesOfTypesAndLayouts) {
  const std::vector<std::pair<std::string_view, std::string_view>> types = {
      {"torch.float16", "f16"}, {"torch.bfloat16", "bf16"}, {"FLOAT", "f32"},
      {"double", "f64"},        {"qint8", "int8"},          {"i8", "int8"}};
  for (const auto& [word, type] : types) {
    EXPECT_EQ(value_meant_by("dtype", word), type) << word;
    EXPECT_THAT(refusal({fmt::format("--dtype={}", word)}),
                HasSubstr(fmt::format("did you mean {}?", type)));
  }
  EXPECT_THAT(refusal({"--data_format=channels_last"}), HasSubstr("did you mean NHWC?"));
  EXPECT_EQ(value_meant_by("dtype", "channels_last"), "");
}

TEST(ValueMeantBy, KnowsEachCardByItsComputeCapability) {
  for (const std::string_view card : split_words(find_flag("plan_for")->accepted.values)) {
    const std::string capability(card.substr(card.find('_') + 1));
    EXPECT_EQ(value_meant_by("plan_for", capability), card);
    const std::string with_point =
        fmt::format("{}.{}", capability.substr(0, capability.size() - 1), capability.back());
    EXPECT_EQ(value_meant_by("plan_for", with_point), card);
  }
  for (const std::string_view card :
       {"t4", "A100", "orin", "l40s", "H200", "b200", "b300", "thor", "rtx5090", "spark"}) {
    EXPECT_THAT(split_words(find_flag("plan_for")->accepted.values),
                testing::Contains(value_meant_by("plan_for", card)))
        << card;
  }
}

}  // namespace
}  // namespace bench

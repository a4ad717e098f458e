#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "bench/flags/flags.h"
#include "bench/flags/table.h"
#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(ParseFlags, GivesTheDefaultsWithoutArguments) {
  const ParseResult result = parse({});
  EXPECT_EQ(result.flags.model, "trivial");
  EXPECT_EQ(result.flags.batch_size, "0");
  EXPECT_EQ(result.flags.weight_decay, 4e-5);
  EXPECT_EQ(result.flags.num_batches, std::nullopt);
  EXPECT_EQ(result.flags.device, std::nullopt);
  EXPECT_EQ(result.flags.data_format, std::nullopt);
  EXPECT_THAT(result.flags.dump, IsEmpty());
  EXPECT_TRUE(result.flags.fuse_decode_and_crop);
  EXPECT_THAT(result.given, IsEmpty());
  EXPECT_THAT(result.notices, IsEmpty());
  EXPECT_FALSE(result.help_topic.has_value());
  EXPECT_FALSE(result.version_asked);
}

TEST(ParseFlags, ReadsEveryType) {
  const Flags flags = parse({"--model=resnet50", "--batch_size=32", "--num_epochs=0.5",
                             "--forward_only=true", "--dump=graph,plan"})
                          .flags;
  EXPECT_EQ(flags.model, "resnet50");
  EXPECT_EQ(flags.batch_size, "32");
  EXPECT_EQ(flags.num_epochs, 0.5);
  EXPECT_TRUE(flags.forward_only);
  EXPECT_THAT(flags.dump, ElementsAre("graph", "plan"));
}

TEST(ParseFlags, TakesTheValueFromTheNextArgument) {
  const Flags flags =
      parse({"--batch_size", "32", "-model", "lenet", "--tf_random_seed", "-5"}).flags;
  EXPECT_EQ(flags.batch_size, "32");
  EXPECT_EQ(flags.model, "lenet");
  EXPECT_EQ(flags.tf_random_seed, -5);
}

TEST(ParseFlags, TakesOneDashToo) {
  const Flags flags = parse({"-batch_size=32", "-forward_only", "-nofuse_decode_and_crop"}).flags;
  EXPECT_EQ(flags.batch_size, "32");
  EXPECT_TRUE(flags.forward_only);
  EXPECT_FALSE(flags.fuse_decode_and_crop);
}

TEST(ParseFlags, KnowsTheFormsOfABoolean) {
  for (const std::string_view yes : {"--forward_only", "--forward_only=true", "--forward_only=True",
                                     "--forward_only=1", "--forward_only=t"}) {
    EXPECT_TRUE(parse({yes}).flags.forward_only) << yes;
  }
  for (const std::string_view no :
       {"--noforward_only", "--forward_only=false", "--forward_only=False", "--forward_only=0"}) {
    EXPECT_FALSE(parse({"--forward_only", no}).flags.forward_only) << no;
  }
}

TEST(ParseFlags, RefusesOtherFormsOfABoolean) {
  EXPECT_EQ(refusal({"--forward_only=maybe"}), "--forward_only=maybe: expected true or false");
  EXPECT_EQ(refusal({"--forward_only="}), "--forward_only=: expected true or false");
  EXPECT_EQ(refusal({"--staged_vars=maybe"}), "--staged_vars=maybe: expected true or false");
  EXPECT_EQ(refusal({"--noforward_only=true"}),
            "--noforward_only=true: --noforward_only takes no value");
  EXPECT_THAT(refusal({"--nobatch_size"}), HasSubstr("--nobatch_size: unknown flag"));
}

TEST(ParseFlags, RefusesPositionalArguments) {
  EXPECT_EQ(refusal({"--distortions", "False"}),
            "'False': positional arguments are not accepted; write --distortions=False instead of "
            "--distortions False");
  EXPECT_EQ(refusal({"quux"}),
            "'quux': positional arguments are not accepted; write flags as --name=value");
  EXPECT_EQ(refusal({"LeNet"}),
            "'LeNet': positional arguments are not accepted; did you mean --model=lenet?");
  EXPECT_THAT(refusal({"--verify", "resnet-50"}), HasSubstr("did you mean --model=resnet50?"));
  EXPECT_THAT(refusal({"--forward_only=true", "x"}), HasSubstr("write flags as --name=value"));
  EXPECT_THAT(refusal({"--batch_size=4", "5"}), HasSubstr("write flags as --name=value"));
  EXPECT_THAT(refusal({"-"}), HasSubstr("positional"));
  EXPECT_THAT(refusal({""}), HasSubstr("positional"));
  EXPECT_THAT(refusal({"--", "--batch_size=4"}), HasSubstr("positional"));
  EXPECT_THAT(parse({"--batch_size=4", "--"}).flags.batch_size, "4");
}

TEST(ParseFlags, RefusesAFlagWithoutItsValue) {
  EXPECT_EQ(
      refusal({"--batch_size"}),
      "--batch_size needs a value: 0, a batch size from 1 to 1073741824, a list such as 8,16,32, "
      "auto, or max");
  EXPECT_THAT(refusal({"--model", "--forward_only"}), HasSubstr("--model needs a value"));
}

TEST(ParseFlags, NamesFlagsNearAnUnknownOne) {
  EXPECT_THAT(refusal({"--batchsize=4"}), HasSubstr("did you mean --batch_size"));
  EXPECT_THAT(refusal({"--optimiser", "sgd"}), HasSubstr("did you mean --optimizer"));
  EXPECT_THAT(refusal({"--modle=lenet"}), HasSubstr("did you mean --model"));
}

TEST(ParseFlags, EchoesAnUnknownFlagAsItWasGiven) {
  EXPECT_EQ(refusal({"-b", "8"}), "-b: unknown flag; did you mean --batch_size?");
  EXPECT_EQ(refusal({"-b=8"}), "-b: unknown flag; did you mean --batch_size?");
  EXPECT_EQ(refusal({"-noforward_only=true"}),
            "-noforward_only=true: --noforward_only takes no value");
}

TEST(ParseFlags, DoesNotKnowTheLibrariesFlags) {
  for (const std::string_view flag :
       {"--v=1", "--logtostderr", "--fromenv=model", "--tryfromenv=model",
        "--tab_completion_word=x", "--helpon=x", "--helpmatch=x", "--helppackage", "--helpxml",
        "--log_dir=x", "--minloglevel=1"}) {
    EXPECT_THAT(refusal({flag}), HasSubstr("unknown flag")) << flag;
  }
}

TEST(ParseFlags, RefusesTextInsteadOfNumbers) {
  EXPECT_EQ(refusal({"--display_every=ten"}),
            "--display_every=ten: expected a whole number of at least 1");
  EXPECT_THAT(refusal({"--display_every=1.5"}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"--display_every="}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"--display_every=-"}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"--momentum=1e"}), HasSubstr("a number of at least 0"));
  EXPECT_THAT(refusal({"--momentum=big"}), HasSubstr("a number of at least 0"));
  EXPECT_THAT(refusal({"--momentum=nan"}), HasSubstr("a number of at least 0"));
  EXPECT_THAT(refusal({"--momentum=inf"}), HasSubstr("a number of at least 0"));
}

TEST(ParseFlags, RefusesNumbersOutOfBounds) {
  EXPECT_EQ(refusal({"--display_every=0"}),
            "--display_every=0: expected a whole number of at least 1");
  EXPECT_EQ(refusal({"--display_perf_ewma=1.5"}),
            "--display_perf_ewma=1.5: expected a number from 0 to 1");
  EXPECT_THAT(refusal({"--max_seconds=0"}), HasSubstr("above 0"));
  EXPECT_THAT(refusal({"--gpu_memory_frac_for_testing=-1"}), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal({"--eval_during_training_every_n_steps=0"}), HasSubstr("at least 1"));
  EXPECT_EQ(parse({"--display_perf_ewma=1", "--num_classes=2"}).flags.num_classes, 2);
  EXPECT_THAT(refusal({"--num_classes=1"}), HasSubstr("from 2"));
}

TEST(ParseFlags, RefusesUnknownValues) {
  EXPECT_EQ(refusal({"--loss_type_to_report=bas_loss"}),
            "--loss_type_to_report=bas_loss: unknown value; accepted: total_loss, base_loss; did "
            "you mean base_loss?");
  EXPECT_THAT(refusal({"--data_format=nhcw"}), HasSubstr("did you mean NCHW or NHWC?"));
  EXPECT_THAT(refusal({"--job_name=foo"}),
              HasSubstr("accepted: none (not applicable: ps, worker, controller)"));
  EXPECT_THAT(refusal({"--dump=graph,plans"}), HasSubstr("did you mean plan?"));
}

TEST(ParseFlags, SaysHowFarNumbersReach) {
  EXPECT_EQ(refusal({"--num_batches=9223372036854775808"}),
            "--num_batches=9223372036854775808: outside the 64-bit range; expected a whole number "
            "from 0 to 9223372036854775807");
  EXPECT_EQ(refusal({"--tf_random_seed=-99999999999999999999"}),
            "--tf_random_seed=-99999999999999999999: outside the 64-bit range; expected a whole "
            "number from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(refusal({"--num_intra_threads=99999999999999999999"}),
            "--num_intra_threads=99999999999999999999: outside the 64-bit range; expected a whole "
            "number from 0 to 4096");
  EXPECT_EQ(refusal({"--momentum=1e999"}),
            "--momentum=1e999: outside the 64-bit range; expected a number of at least 0");
  EXPECT_EQ(parse({"--num_batches=9223372036854775807"}).flags.num_batches, 9223372036854775807);
}

TEST(ParseFlags, TakesNumbersInPlainDecimalAlone) {
  for (const std::string_view text : {" 5", "5 ", "\t5", "0x10", "0X10", "5\n", "1_000", "--5"}) {
    const std::string whole = fmt::format("--display_every={}", text);
    EXPECT_THAT(refusal({whole}), HasSubstr("a whole number")) << whole;
    const std::string real = fmt::format("--momentum={}", text);
    EXPECT_THAT(refusal({real}), HasSubstr("a number of at least 0")) << real;
  }
  EXPECT_EQ(parse({"--display_every=+5"}).flags.display_every, 5);
  EXPECT_EQ(parse({"--display_every=005"}).flags.display_every, 5);
  EXPECT_EQ(parse({"--momentum=+.5e-1"}).flags.momentum, 0.05);
}

TEST(ParseFlags, SetsTheDefaultsOfALatency) {
  const ParseResult parsed = parse({"--latency"});
  EXPECT_TRUE(parsed.flags.forward_only);
  EXPECT_TRUE(parsed.flags.freeze_when_forward_only);
  EXPECT_EQ(parsed.flags.batch_size, "1");
  EXPECT_EQ(parsed.batch.sizes, std::vector<std::int64_t>{1});
  EXPECT_EQ(parsed.flags.num_batches, 1000);
  EXPECT_THAT(parsed.notices,
              ElementsAre("--latency also sets --forward_only --freeze_when_forward_only "
                          "--batch_size=1 --num_batches=1000"));
}

TEST(ParseFlags, KeepsGivenFlagsInALatency) {
  const ParseResult parsed =
      parse({"--latency", "--nofreeze_when_forward_only", "--batch_size=8", "--num_batches=30"});
  EXPECT_FALSE(parsed.flags.freeze_when_forward_only);
  EXPECT_EQ(parsed.batch.sizes, std::vector<std::int64_t>{8});
  EXPECT_EQ(parsed.flags.num_batches, 30);
}

TEST(ParseFlags, TakesNumBatches0AsUnset) {
  EXPECT_EQ(parse({"--num_batches=0"}).flags.num_batches, std::nullopt);
  EXPECT_EQ(parse({"--num_batches=0", "--num_epochs=2"}).flags.num_epochs, 2);
}

TEST(ParseFlags, TakesDashesForUnderscores) {
  const ParseResult result =
      parse({"--batch-size=8", "--data-format", "NHWC", "--no-forward-only", "-init-from=a-b"});
  EXPECT_EQ(result.flags.batch_size, "8");
  EXPECT_EQ(result.flags.data_format, "NHWC");
  EXPECT_FALSE(result.flags.forward_only);
  EXPECT_EQ(result.flags.init_from, "a-b");
  EXPECT_TRUE(result.given.contains("batch_size"));
  EXPECT_THAT(refusal({"--learning-rate=1"}), HasSubstr("did you mean --init_learning_rate?"));
}

TEST(ParseFlags, TakesTheNamesOfModelsInAnyCase) {
  EXPECT_EQ(parse({"--model=ResNet50_V1.5"}).flags.model, "resnet50_v1.5");
  EXPECT_EQ(parse({"--model=Quux"}).flags.model, "Quux");
}

TEST(ParseFlags, TakesEveryEnumeratedValueInAnyCase) {
  for (const FlagRow& row : flag_table()) {
    for (const std::string_view value : split_words(row.accepted.values)) {
      std::string upper = fmt::format("--{}=", row.name);
      for (const char letter : value) {
        upper += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
      }
      EXPECT_NO_THROW(parse({upper, "--help"})) << upper;
    }
  }
  EXPECT_THAT(parse({"--dump=Plan,GRAPH"}).flags.dump, ElementsAre("plan", "graph"));
  EXPECT_EQ(parse({"--data_format=nchw"}).flags.data_format, "NCHW");
  EXPECT_EQ(parse({"--dtype=BF16"}).flags.dtype, "bf16");
  const ParseResult result =
      parse({"--device=CPU", "--local_parameter_device=CPU", "--gpu_thread_mode=Global"});
  EXPECT_EQ(result.flags.device, "cpu");
  EXPECT_EQ(result.flags.local_parameter_device, "cpu");
  EXPECT_EQ(result.flags.gpu_thread_mode, "global");
  EXPECT_EQ(result.given.at("device"), "CPU");
}

TEST(ParseFlags, AcceptsCommonSynonymsOfTypes) {
  const std::vector<std::pair<std::string_view, std::string_view>> types = {
      {"fp32", "f32"}, {"Float32", "f32"}, {"bfloat16", "bf16"}, {"fp16", "f16"},
      {"FP16", "f16"}, {"float16", "f16"}, {"half", "f16"},      {"float64", "f64"}};
  for (const auto& [word, type] : types) {
    EXPECT_EQ(parse({fmt::format("--dtype={}", word)}).flags.dtype, type) << word;
  }
  EXPECT_EQ(parse({"--dtype=float16", "--dtype=f16"}).notices, std::vector<std::string>());
}

TEST(ParseFlags, RefusesAnEmptyStringWhereOneIsNeeded) {
  EXPECT_EQ(refusal({"--data_dir="}), "--data_dir is empty: expected a non-empty string");
  EXPECT_THAT(refusal({"--result_file", ""}), HasSubstr("--result_file is empty"));
}

TEST(ParseFlags, KeepsWhatWasGiven) {
  const ParseResult result = parse({"--batch_size", "032", "--forward_only", "--num_gpus=1"});
  EXPECT_THAT(result.given, ElementsAre(Pair("batch_size", "032"), Pair("forward_only", "true"),
                                        Pair("num_gpus", "1")));
}

TEST(ParseFlags, UsesTheLastValueOfARepeatedFlag) {
  const ParseResult result = parse({"--batch_size=4", "--model=lenet", "--batch_size=8"});
  EXPECT_EQ(result.flags.batch_size, "8");
  EXPECT_EQ(result.given.at("batch_size"), "8");
  EXPECT_EQ(result.given.size(), 2);
  EXPECT_THAT(result.notices,
              ElementsAre("--batch_size is given more than once: '8' is used, not '4'"));
}

TEST(ParseFlags, ChecksEveryValueOfARepeatedFlag) {
  EXPECT_THAT(refusal({"--display_every=ten", "--display_every=8"}), HasSubstr("=ten: expected"));
  EXPECT_THAT(refusal({"--display_every=0", "--display_every=8"}), HasSubstr("=0: expected"));
  EXPECT_THAT(refusal({"--dtype=f33", "--dtype=f32"}), HasSubstr("=f33: unknown value"));
  EXPECT_THAT(refusal({"--batch_size=many", "--batch_size=8"}), HasSubstr("=many: expected"));
  EXPECT_THAT(refusal({"--data_dir=", "--data_dir=imagenet"}), HasSubstr("--data_dir is empty"));
}

TEST(ParseFlags, ChecksEveryModelOfARepeatedFlag) {
  EXPECT_EQ(refusal({"--model=quux", "--model=lenet"}),
            "--model=quux: unknown value; --list_models lists all");
  EXPECT_EQ(parse({"--model=VGG16", "--model=lenet"}).flags.model, "lenet");
  EXPECT_EQ(parse({"--model=ssd300", "--model=lenet"}).flags.model, "lenet");
}

TEST(ParseFlags, LetsALaterFlagOverrideWhatIsNotBuilt) {
  const ParseResult result = parse({"--num_gpus=8", "--mkl", "--num_gpus=1", "--nomkl"});
  EXPECT_EQ(result.flags.num_gpus, 1);
  EXPECT_THAT(result.notices,
              ElementsAre("--num_gpus is given more than once: '1' is used, not '8'",
                          "--mkl is given more than once: 'false' is used, not 'true'",
                          HasSubstr("--mkl: no effect")));
}

TEST(ParseFlags, GivesNoNoticeIfAValueIsRepeated) {
  EXPECT_THAT(
      parse({"--display_every=8", "--display_every=08", "--dtype=f32", "--dtype=F32"}).notices,
      IsEmpty());
}

TEST(ParseFlags, RecognizesHelpAndVersion) {
  for (const std::string_view flag : {"--help", "-help", "-h", "--helpshort", "--help=most"}) {
    EXPECT_EQ(parse({flag}).help_topic, "most") << flag;
  }
  EXPECT_EQ(parse({"--helpfull"}).help_topic, "all");
  EXPECT_EQ(parse({"-h=data"}).help_topic, "data");
  EXPECT_EQ(refusal({"--helpfull=data"}), "--helpfull=data: --helpfull takes no value");
  EXPECT_EQ(parse({"--help=data"}).help_topic, "data");
  EXPECT_EQ(refusal({"--help", "data"}),
            "'data': positional arguments are not accepted; write --help=data instead of --help "
            "data");
  EXPECT_TRUE(parse({"--version"}).version_asked);
  EXPECT_FALSE(parse({"--help"}).version_asked);
  EXPECT_EQ(parse({"--eval", "--help"}).help_topic, "most");
  EXPECT_TRUE(parse({"--eval", "--list_models"}).models_asked);
  EXPECT_FALSE(parse({"--list_models"}).variables_asked);
  EXPECT_TRUE(parse({"--list_variables", "--model=lenet"}).variables_asked);
  EXPECT_EQ(refusal({"--eval", "--list_variables"}), refusal({"--eval"}));
  EXPECT_FALSE(parse({"--nolist_models"}).models_asked);
  EXPECT_THAT(refusal({"--help", "--quux"}), HasSubstr("--quux"));
}

TEST(ParseFlags, ForgetsThePreviousCall) {
  parse({"--batch_size=4", "--num_batches=7", "--help"});
  refusal({"--momentum=0.5", "--display_every=x"});
  const ParseResult result = parse({});
  EXPECT_EQ(result.flags.batch_size, "0");
  EXPECT_EQ(result.flags.num_batches, std::nullopt);
  EXPECT_EQ(result.flags.momentum, 0.9);
  EXPECT_FALSE(result.help_topic.has_value());
}

TEST(ParseFlags, ChecksCombinations) {
  EXPECT_THAT(refusal({"--num_batches=5", "--num_epochs=1"}), HasSubstr("are mutually exclusive"));
  EXPECT_THAT(refusal({"--minimum_learning_rate=1"}), HasSubstr("needs --init_learning_rate"));
}

TEST(ParseFlags, SkipsTheProgramsName) {
  std::string program = "bench";
  std::string flag = "--batch_size=4";
  char* argv[] = {program.data(), flag.data(), nullptr};
  EXPECT_EQ(parse_flags(2, argv).flags.batch_size, "4");
  EXPECT_EQ(parse_flags(0, argv).flags.batch_size, "0");
}

TEST(FlagValues, ListEveryFlagWithItsTypedValue) {
  const auto values = flag_values(
      parse({"--num_batches=7", "--weight_decay=0.1", "--dump=graph,plan", "--model=lenet"}).flags);
  const auto value_of = [&](std::string_view name) -> results::FlagValue {
    for (const auto& [flag, value] : values) {
      if (flag == name) {
        return value;
      }
    }
    return std::string("missing");
  };
  const auto members =
      std::count_if(flag_table().begin(), flag_table().end(), [](const FlagRow& row) {
        return !row.for_parser && row.name != "version" && !row.name.starts_with("list_");
      });
  EXPECT_EQ(values.size(), static_cast<std::size_t>(members));
  EXPECT_EQ(value_of("num_batches"), results::FlagValue(std::int64_t{7}));
  EXPECT_EQ(value_of("num_epochs"), results::FlagValue());
  EXPECT_EQ(value_of("weight_decay"), results::FlagValue(0.1));
  EXPECT_EQ(value_of("fuse_decode_and_crop"), results::FlagValue(true));
  EXPECT_EQ(value_of("dump"), results::FlagValue(std::string("graph,plan")));
  EXPECT_EQ(value_of("model"), results::FlagValue(std::string("lenet")));
  EXPECT_EQ(value_of("allow_growth"), results::FlagValue());
}

TEST(ParseFlags, GivesAFlagWithoutAValueItsBareMeaning) {
  EXPECT_EQ(parse({"--verify"}).flags.verify, "model");
  EXPECT_EQ(parse({"--verify=all"}).flags.verify, "all");
  EXPECT_FALSE(parse({}).flags.verify.has_value());
}

}  // namespace
}  // namespace bench

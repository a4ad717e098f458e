#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags.h"
#include "bench/flags_table.h"
#include "bench/test/usage_error.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(ParseFlags, OfNothingGivesTheDefaults) {
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
  EXPECT_FALSE(result.help_asked);
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
  EXPECT_EQ(refusal({"--forward_only=maybe"}), "--forward_only=maybe: accepted is true or false");
  EXPECT_EQ(refusal({"--forward_only="}), "--forward_only=: accepted is true or false");
  EXPECT_EQ(refusal({"--noforward_only=true"}),
            "--noforward_only=true: --noforward_only takes no value");
  EXPECT_THAT(refusal({"--nobatch_size"}), HasSubstr("--nobatch_size: unknown flag"));
}

TEST(ParseFlags, RefusesPositionalArguments) {
  EXPECT_EQ(refusal({"--distortions", "False"}),
            "'False': positional arguments are not accepted; write --distortions=False instead of "
            "--distortions False");
  EXPECT_EQ(refusal({"resnet50"}),
            "'resnet50': positional arguments are not accepted; flags are written --name=value");
  EXPECT_THAT(refusal({"--forward_only=true", "x"}), HasSubstr("flags are written --name=value"));
  EXPECT_THAT(refusal({"--batch_size=4", "5"}), HasSubstr("flags are written --name=value"));
  EXPECT_THAT(refusal({"-"}), HasSubstr("positional"));
  EXPECT_THAT(refusal({""}), HasSubstr("positional"));
  EXPECT_THAT(refusal({"--", "--batch_size=4"}), HasSubstr("positional"));
  EXPECT_THAT(parse({"--batch_size=4", "--"}).flags.batch_size, "4");
}

TEST(ParseFlags, RefusesAFlagWithoutItsValue) {
  EXPECT_EQ(
      refusal({"--batch_size"}),
      "--batch_size needs a value: 0, a batch from 1 to 1073741824, a list of them as 8,16,32, "
      "auto, or max");
  EXPECT_THAT(refusal({"--model", "--forward_only"}), HasSubstr("--model needs a value"));
}

TEST(ParseFlags, NamesFlagsNearAnUnknownOne) {
  EXPECT_THAT(refusal({"--batchsize=4"}), HasSubstr("did you mean --batch_size"));
  EXPECT_THAT(refusal({"--optimiser", "sgd"}), HasSubstr("did you mean --optimizer"));
  EXPECT_THAT(refusal({"--modle=lenet"}), HasSubstr("did you mean --model"));
}

TEST(ParseFlags, DoesNotKnowTheLibrariesFlags) {
  for (const std::string_view flag :
       {"--v=1", "--logtostderr", "--flagfile=x", "--fromenv=model", "--tryfromenv=model",
        "--undefok=x", "--tab_completion_word=x", "--helpfull", "--helpshort", "--helpon=x",
        "--helpmatch=x", "--helppackage", "--helpxml", "--log_dir=x", "--minloglevel=1"}) {
    EXPECT_THAT(refusal({flag}), HasSubstr("unknown flag")) << flag;
  }
}

TEST(ParseFlags, RefusesNumbersThatAreNone) {
  EXPECT_EQ(refusal({"--display_every=ten"}),
            "--display_every=ten: accepted is a whole number at least 1");
  EXPECT_THAT(refusal({"--display_every=1.5"}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"--display_every="}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"--display_every=99999999999999999999"}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"--momentum=big"}), HasSubstr("a number at least 0"));
  EXPECT_THAT(refusal({"--momentum=nan"}), HasSubstr("a number at least 0"));
  EXPECT_THAT(refusal({"--momentum=inf"}), HasSubstr("a number at least 0"));
}

TEST(ParseFlags, RefusesNumbersOutOfBounds) {
  EXPECT_EQ(refusal({"--display_every=0"}),
            "--display_every=0: accepted is a whole number at least 1");
  EXPECT_EQ(refusal({"--display_perf_ewma=1.5"}),
            "--display_perf_ewma=1.5: accepted is a number from 0 to 1");
  EXPECT_THAT(refusal({"--max_seconds=0"}), HasSubstr("above 0"));
  EXPECT_THAT(refusal({"--gpu_memory_frac_for_testing=-1"}), HasSubstr("at least 0"));
  EXPECT_THAT(refusal({"--eval_during_training_every_n_steps=0"}), HasSubstr("at least 1"));
  EXPECT_EQ(parse({"--display_perf_ewma=1", "--num_classes=2"}).flags.num_classes, 2);
  EXPECT_THAT(refusal({"--num_classes=1"}), HasSubstr("from 2"));
}

TEST(ParseFlags, RefusesUnknownValues) {
  EXPECT_EQ(refusal({"--optimizer=mometum"}),
            "--optimizer=mometum: unknown value; accepted are sgd, momentum, rmsprop, adam; did "
            "you mean momentum?");
  EXPECT_THAT(refusal({"--data_format=nhwc"}), HasSubstr("did you mean NHWC?"));
  EXPECT_THAT(refusal({"--job_name=foo"}), HasSubstr("accepted are ps, worker, controller"));
  EXPECT_THAT(refusal({"--dump=graph,plans"}), HasSubstr("did you mean plan?"));
}

TEST(ParseFlags, TakesSomeValuesInAnyCase) {
  const ParseResult result =
      parse({"--device=CPU", "--local_parameter_device=CPU", "--gpu_thread_mode=Global"});
  EXPECT_EQ(result.flags.device, "cpu");
  EXPECT_EQ(result.flags.local_parameter_device, "cpu");
  EXPECT_EQ(result.flags.gpu_thread_mode, "global");
  EXPECT_EQ(result.given.at("device"), "CPU");
}

TEST(ParseFlags, RefusesAnEmptyTextWhereOneIsNeeded) {
  EXPECT_EQ(refusal({"--data_dir="}), "--data_dir is empty: accepted is a text that is not empty");
  EXPECT_THAT(refusal({"--result_file", ""}), HasSubstr("--result_file is empty"));
}

TEST(ParseFlags, KeepsWhatWasGiven) {
  const ParseResult result = parse({"--batch_size", "032", "--forward_only", "--num_gpus=1"});
  EXPECT_THAT(result.given, ElementsAre(Pair("batch_size", "032"), Pair("forward_only", "true"),
                                        Pair("num_gpus", "1")));
}

TEST(ParseFlags, LetsTheLastOfSeveralWin) {
  const ParseResult result = parse({"--batch_size=4", "--model=lenet", "--batch_size=8"});
  EXPECT_EQ(result.flags.batch_size, "8");
  EXPECT_EQ(result.given.at("batch_size"), "8");
  EXPECT_EQ(result.given.size(), 2);
}

TEST(ParseFlags, SeesWhetherHelpOrVersionIsAsked) {
  EXPECT_TRUE(parse({"--help"}).help_asked);
  EXPECT_TRUE(parse({"-help"}).help_asked);
  EXPECT_FALSE(parse({"--nohelp"}).help_asked);
  EXPECT_TRUE(parse({"--version"}).version_asked);
  EXPECT_FALSE(parse({"--help"}).version_asked);
  EXPECT_TRUE(parse({"--eval", "--help"}).help_asked);
  EXPECT_TRUE(parse({"--eval", "--list_models"}).models_asked);
  EXPECT_FALSE(parse({"--list_models"}).variables_asked);
  EXPECT_TRUE(parse({"--list_variables", "--model=lenet"}).variables_asked);
  EXPECT_EQ(refusal({"--eval", "--list_variables"}), refusal({"--eval"}));
  EXPECT_FALSE(parse({"--nolist_models"}).models_asked);
  EXPECT_THAT(refusal({"--help", "--quux"}), HasSubstr("--quux"));
}

TEST(ParseFlags, RemembersNothingOfTheCallBefore) {
  parse({"--batch_size=4", "--num_batches=7", "--help"});
  refusal({"--momentum=0.5", "--display_every=x"});
  const ParseResult result = parse({});
  EXPECT_EQ(result.flags.batch_size, "0");
  EXPECT_EQ(result.flags.num_batches, std::nullopt);
  EXPECT_EQ(result.flags.momentum, 0.9);
  EXPECT_FALSE(result.help_asked);
}

TEST(ParseFlags, ChecksCombinations) {
  EXPECT_THAT(refusal({"--num_batches=5", "--num_epochs=1"}), HasSubstr("exclude each other"));
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
  const auto value_of = [&](std::string_view name) -> FlagValue {
    for (const auto& [flag, value] : values) {
      if (flag == name) {
        return value;
      }
    }
    return std::string("missing");
  };
  EXPECT_EQ(values.size() + 4, flag_table().size());  // without those that end the program
  EXPECT_EQ(value_of("num_batches"), FlagValue(std::int64_t{7}));
  EXPECT_EQ(value_of("num_epochs"), FlagValue());
  EXPECT_EQ(value_of("weight_decay"), FlagValue(0.1));
  EXPECT_EQ(value_of("fuse_decode_and_crop"), FlagValue(true));
  EXPECT_EQ(value_of("dump"), FlagValue(std::string("graph,plan")));
  EXPECT_EQ(value_of("model"), FlagValue(std::string("lenet")));
  EXPECT_EQ(value_of("allow_growth"), FlagValue());
}

TEST(ParseFlags, TakesAMeaningOfTheirOwnWhenGivenBare) {
  EXPECT_EQ(parse({"--verify"}).flags.verify, "model");
  EXPECT_EQ(parse({"--verify=all"}).flags.verify, "all");
  EXPECT_FALSE(parse({}).flags.verify.has_value());
}

}  // namespace
}  // namespace bench

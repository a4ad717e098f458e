#include "bench/plan/record_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

TEST(ParseTags, TakesNamesAndValues) {
  EXPECT_THAT(parse_tags("site=ams,rack=7"), ElementsAre(Pair("rack", "7"), Pair("site", "ams")));
  EXPECT_TRUE(parse_tags("").empty());
  EXPECT_THAT(parse_tags("a=b=c"), ElementsAre(Pair("a", "b=c")));
  for (const char* text : {"site", "=x", "a b=c", "a=1,a=2", "a=1,"}) {
    EXPECT_THROW(parse_tags(text), UsageError) << text;
  }
}

TEST(ParseShare, TakesPerCentAndNumbers) {
  EXPECT_DOUBLE_EQ(parse_share("1%", "until_ci"), 0.01);
  EXPECT_DOUBLE_EQ(parse_share("0.02", "until_ci"), 0.02);
  for (const char* text : {"", "%", "1", "0", "-1%", "100%", "1 %"}) {
    EXPECT_THROW(parse_share(text, "until_ci"), UsageError) << text;
  }
}

TEST(DeviceCounts, GrowAndAreTwoAtLeast) {
  EXPECT_EQ(parse_device_counts("1,2,64"), (std::vector<int>{1, 2, 64}));
  for (const char* text : {"", "2", "1,1", "2,1", "0,1", "1,65", "1,,2", "1,x", "1, 2", "-1,2"}) {
    EXPECT_THROW(parse_device_counts(text), UsageError) << text;
  }
}

TEST(ScalingReference, IsReadAsItIsWritten) {
  const ScalingReference given{.devices = 2,
                               .units_per_second = 12.3456789012345,
                               .parts = ScalingReference::Parts{.input = 0.01,
                                                                .computing = 0.1,
                                                                .exposed_communication = 0.02,
                                                                .updating = 0.003,
                                                                .waiting = 0.4}};
  const ScalingReference read = parse_scaling_reference(to_text(given));
  EXPECT_EQ(read.devices, 2);
  EXPECT_EQ(read.units_per_second, given.units_per_second);
  EXPECT_EQ(read.parts->input, 0.01);
  EXPECT_EQ(read.parts->exposed_communication, 0.02);
  EXPECT_EQ(read.parts->updating, 0.003);
  EXPECT_EQ(read.parts->waiting, 0.4);
  EXPECT_FALSE(parse_scaling_reference(to_text({.devices = 1, .units_per_second = 1})).parts);
  for (const char* text : {"x", "{}", "{\"devices\": 1}", "[1]"}) {
    EXPECT_THROW(parse_scaling_reference(text), UsageError) << text;
  }
}

TEST(GroupPlace, IsReadAsItIsWritten) {
  const GroupPlace place = parse_group_place(to_text({.group = "ab-12", .repeat = 3, .order = 7}));
  EXPECT_EQ(place.group, "ab-12");
  EXPECT_EQ(place.repeat, 3);
  EXPECT_EQ(place.order, 7);
  for (const char* text : {"", "a", "a/1", "/1/2", "a/x/1", "a/1/-2", "a/1/2/3"}) {
    EXPECT_THROW(parse_group_place(text), UsageError) << text;
  }
}

class CostFile : public testing::Test {
 protected:
  std::string write(const std::string& text) const {
    const std::string path = (folder_.path() / "cost.json").string();
    std::ofstream(path) << text;
    return path;
  }
  ScratchFolder folder_;
};

TEST_F(CostFile, GivesThePriceOfThisMachine) {
  const std::string path = write(R"({"currency": "EUR", "years": 4, "pue": null, "systems": [
      {"match": "rented", "hourly": 2}, {"match": "EPYC", "capex": 25000}]})");
  const results::Cost cost = read_cost(path, "", "node7, AMD EPYC 9654");
  EXPECT_EQ(cost.currency, "EUR");
  EXPECT_EQ(cost.capex.value(), 25000);
  EXPECT_EQ(cost.years.value(), 4);
  EXPECT_THAT(cost.hourly.why(), HasSubstr("does not contain it"));
  EXPECT_FALSE(cost.pue.known());
  EXPECT_EQ(read_cost(path, "rented", "node7, AMD EPYC 9654").hourly.value(), 2);
  EXPECT_THAT([&] { read_cost(path, "", "node8, Xeon"); },
              ThrowsMessage<UsageError>(HasSubstr("no entry matches this machine; make a 'match' "
                                                  "part of 'node8, Xeon'")));
}

TEST_F(CostFile, IsReadBeforeTheRun) {
  Flags flags;
  flags.cost = write(R"({"currency": "EUR", "systems": [{"match": "no such name", "hourly": 2}]})");
  EXPECT_THROW(record_settings_of(flags), UsageError);
  flags.tags = "system=no such name 7";
  EXPECT_EQ(record_settings_of(flags).cost.value().hourly.value(), 2);
}

/// Sets an environment variable during its lifetime.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~SetVariable() { ::unsetenv(name_); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  const char* name_;
};

TEST(RecordSettings, TakeTheGroupPlaceOfTheParentProcess) {
  const SetVariable group(kGroupVariable, "g/2/5");
  const RecordSettings settings = record_settings_of({});
  EXPECT_EQ(settings.labels.group_id.value(), "g");
  EXPECT_EQ(settings.labels.repeat_index.value(), 2);
  EXPECT_EQ(settings.labels.order_index.value(), 5);
  EXPECT_FALSE(settings.own_repeat) << "its files keep their names";
}

TEST(RecordSettings, DoNotRepeatARunOfAGroup) {
  Flags flags;
  flags.repeats = 3;
  const SetVariable group(kGroupVariable, "g/2/5");
  EXPECT_THROW(record_settings_of(flags), UsageError);
  const SetVariable own(kRepeatsVariable, "1");
  const RecordSettings settings = record_settings_of(flags);
  EXPECT_EQ(settings.own_repeat, 2);
  EXPECT_EQ(settings.repeats.runs, 3) << "that its group has";
}

TEST(RecordSettings, RepeatAtMostUntilTheLastLook) {
  Flags flags;
  EXPECT_FALSE(record_settings_of(flags).repeats.asked());
  flags.until_ci = "1%";
  EXPECT_EQ(record_settings_of(flags).repeats.runs, 24);
  flags.repeats = 10;
  EXPECT_EQ(record_settings_of(flags).repeats.runs, 10);
}

}  // namespace
}  // namespace bench

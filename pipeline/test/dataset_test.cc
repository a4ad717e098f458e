#include "pipeline/datasets/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

TEST(Dataset, NamesTheKnownOnesWhenTheNameIsUnknown) {
  const std::string message = test::message_of<UsageError>([] { dataset_named("imagenot"); });
  for (const Dataset& dataset : datasets()) {
    EXPECT_THAT(message, HasSubstr(dataset.name));
  }
}

TEST(Dataset, SaysWhichAreNotBuiltYet) {
  for (const Dataset& dataset : datasets()) {
    const std::string message = test::message_of<UsageError>(
        [&] { make_dataset_input(dataset, {}, {.data_dir = "nowhere"}); });
    EXPECT_EQ(message.find("not supported yet") != std::string::npos,
              dataset.make_input == nullptr);
  }
}

TEST(Dataset, KnowsItsExamples) {
  EXPECT_EQ(dataset_named("imagenet").examples(true), 1281167);
  EXPECT_EQ(dataset_named("imagenet").examples(false), 50000);
}

TEST(ResizeMethod, HasTheOriginalsNames) {
  EXPECT_EQ(resize_method_from("bilinear"), ResizeMethod::bilinear);
  EXPECT_EQ(resize_method_from("round_robin"), ResizeMethod::round_robin);
  EXPECT_THAT(test::message_of<UsageError>([] { resize_method_from("cubic"); }),
              HasSubstr("bilinear, nearest, bicubic, area, round_robin, crop"));
}

}  // namespace
}  // namespace bench

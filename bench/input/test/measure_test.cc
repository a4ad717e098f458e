#include "bench/input/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// `threads` threads that prepared 1,000 images in ten seconds.
InputResult result_of(int threads, std::vector<double> speeds) {
  InputResult result{.threads = threads, .images_per_second = std::move(speeds)};
  result.all.wall = milliseconds(10000);
  result.all.waited = milliseconds(9000);
  result.all.images = 1000;
  result.all.processors = 8;
  result.all.done = {.images_delivered = 1000,
                     .images_prepared = 1000,
                     .parse_busy = milliseconds(10),
                     .decode_busy = milliseconds(1200),
                     .resize_busy = milliseconds(150),
                     .record_bytes = 110'000'000,
                     .threads = threads,
                     .shards = 8};
  result.all.done.preparing = {.work = milliseconds(9000 * threads),
                               .waited = milliseconds(1000 * threads)};
  return result;
}

TEST(InputResult, HasTheMedianSpeed) {
  EXPECT_EQ(result_of(1, {3, 1, 2}).median(), 2);
  EXPECT_EQ(result_of(1, {4, 1, 2, 3}).median(), 2.5);
}

TEST(InputTable, ComparesTheNumbersOfThreads) {
  const InputOptions options{
      .dataset = &dataset_named("imagenet"), .image_size = 224, .seconds = 2, .repeats = 3};
  const std::string table = input_table(
      options, std::vector{result_of(1, {700, 690, 710}), result_of(2, {1300, 1330, 1290})});
  EXPECT_THAT(table, HasSubstr("imagenet training images from 8 files, 110.0 KB per record, as 224 "
                               "x 224 f32\n"));
  EXPECT_THAT(table, HasSubstr("medians of 3 measurements of 2 s"));
  EXPECT_THAT(table, testing::ContainsRegex("1 +700 +690 +710 +700 +100 % +77.0 +0.0 +10.0 +1200.0 "
                                            "+150.0 +90 %"));
  EXPECT_THAT(table, testing::ContainsRegex("2 +1300 +1290 +1330 +650 +93 %"));
}

TEST(InputJson, HasEveryMeasurement) {
  const InputOptions options{.dataset = &dataset_named("imagenet"), .image_size = 224};
  const auto json =
      nlohmann::json::parse(input_json(options, std::vector{result_of(2, {1300, 1330})}));
  EXPECT_EQ(json["jpeg_dct"], "original");
  EXPECT_EQ(json["results"][0]["threads"], 2);
  EXPECT_EQ(json["results"][0]["images_per_second"], (std::vector<double>{1300, 1330}));
  EXPECT_EQ(json["results"][0]["bound"], "decode");
}

}  // namespace
}  // namespace bench

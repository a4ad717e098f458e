#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "models/base/default_boxes.h"
#include "models/base/errors.h"
#include "models/base/labelled_object.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/formats/example_writer.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

constexpr std::int64_t kBatch = 2;
constexpr auto kBoxes = static_cast<std::size_t>(kDefaultBoxes);

struct Object {
  float x_min = 0;
  float y_min = 0;
  float x_max = 0;
  float y_max = 0;
  std::int64_t id = 1;
};

ExampleWriter example_of(std::string_view jpeg, const std::vector<Object>& objects) {
  const auto side = [&](float Object::*member) {
    std::vector<float> values;
    for (const Object& object : objects) {
      values.push_back(object.*member);
    }
    return values;
  };
  std::vector<std::int64_t> ids;
  for (const Object& object : objects) {
    ids.push_back(object.id);
  }
  return ExampleWriter()
      .bytes("image/encoded", jpeg)
      .floats("image/object/bbox/xmin", side(&Object::x_min))
      .floats("image/object/bbox/ymin", side(&Object::y_min))
      .floats("image/object/bbox/xmax", side(&Object::x_max))
      .floats("image/object/bbox/ymax", side(&Object::y_max))
      .ints("image/object/class/label", ids);
}

std::string detection_example(std::string_view jpeg, const std::vector<Object>& objects) {
  return example_of(jpeg, objects).serialize();
}

InputSpec spec() {
  return {.batch = kBatch,
          .channels = 3,
          .height = kSsdImageSize,
          .width = kSsdImageSize,
          .num_classes = 81,
          .numbers = {{.name = "target_offsets", .dtype = DType::f32, .shape = {kDefaultBoxes, 4}},
                      {.name = "classes", .shape = {kDefaultBoxes}}},
          .seed = 5};
}

/// A copy of a batch.
struct Batch {
  std::vector<float> images;
  std::vector<float> offsets;
  std::vector<std::int32_t> classes;

  bool operator==(const Batch&) const = default;
};

Batch next_of(InputSource& input) {
  const InputBatch batch = input.next();
  constexpr auto kRows = static_cast<std::size_t>(kBatch);
  const auto* const offsets = static_cast<const float*>(batch.numbers[0].values);
  const auto* const classes = static_cast<const std::int32_t*>(batch.numbers[1].values);
  EXPECT_EQ(batch.labels, nullptr);
  return {.images = {batch.images, batch.images + kRows * 3 * kSsdImageSize * kSsdImageSize},
          .offsets = {offsets, offsets + kRows * kBoxes * 4},
          .classes = {classes, classes + kRows * kBoxes}};
}

std::unique_ptr<InputSource> open(const DatasetOptions& options) {
  return make_dataset_input(dataset_named("coco"), spec(), options);
}

std::string wavy(std::uint64_t seed) {
  return test::wavy_jpeg({.width = 64, .height = 48, .seed = seed});
}

/// Images with an object each, of class 1, 2, ...
std::vector<std::string> examples(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) {
    const float at = 0.1F + 0.05F * static_cast<float>(i);
    all.push_back(detection_example(
        wavy(static_cast<std::uint64_t>(i)),
        {{.x_min = at, .y_min = 0.2F, .x_max = at + 0.3F, .y_max = 0.7F, .id = i + 1}}));
  }
  return all;
}

TEST(CocoInput, MatchesDefaultBoxesWithTheObjects) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 1}, examples(6));
  const auto input = open({.data_dir = folder.path(), .num_threads = 2, .shuffle_buffer = 1});
  for (int step = 0; step < 3; ++step) {
    const Batch batch = next_of(*input);
    for (std::size_t row = 0; row < 2; ++row) {
      const std::int32_t expected = 1 + 2 * step + static_cast<std::int32_t>(row);
      std::vector<Box> objects;
      for (std::size_t i = 0; i < kBoxes; ++i) {
        const float* const offsets = &batch.offsets[(row * kBoxes + i) * 4];
        const std::int32_t found = batch.classes[row * kBoxes + i];
        ASSERT_TRUE(found == 0 || found == expected) << found;
        if (found > 0) {
          objects.push_back(
              corners_of(box_at(std::span<const float, 4>(offsets, 4), default_boxes()[i])));
        } else {
          ASSERT_EQ(offsets[0], 0);
        }
      }
      // All describe the same object.
      ASSERT_FALSE(objects.empty());
      for (const Box& object : objects) {
        EXPECT_NEAR(object.y_min, objects[0].y_min, 1e-5);
        EXPECT_NEAR(object.x_max, objects[0].x_max, 1e-5);
        EXPECT_GE(object.x_min, -1e-5);
        EXPECT_LE(object.y_max, 1 + 1e-5);
      }
    }
  }
}

TEST(CocoInput, GivesTheSameBitsForAnyNumberOfThreadsAndWithoutFusedDecoding) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 2}, examples(5));
  const auto batches = [&](const DatasetOptions& options) {
    const auto input = open(options);
    return std::vector{next_of(*input), next_of(*input), next_of(*input), next_of(*input)};
  };
  const auto one = batches({.data_dir = folder.path(), .num_threads = 1});
  EXPECT_EQ(batches({.data_dir = folder.path(), .num_threads = 3}), one);
  EXPECT_EQ(batches({.data_dir = folder.path(), .fuse_decode_and_crop = false, .num_threads = 2}),
            one);
}

/// The object is on the dark half of the image.
TEST(CocoInput, MovesTheObjectsWithTheImage) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> samples;
  constexpr int kWidth = 80;
  constexpr int kHeight = 60;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      samples.insert(samples.end(), 3, x < kWidth / 2 ? 10 : 240);
    }
  }
  const std::string jpeg = encode_jpeg({.samples = samples, .width = kWidth, .height = kHeight});
  write_shards(folder, {.shards = 1},
               {detection_example(jpeg, {{.x_min = 0, .y_min = 0, .x_max = 0.5F, .y_max = 1}})});
  const auto input = open({.data_dir = folder.path(), .num_threads = 1});
  int mirrored = 0;
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) {
    const Batch batch = next_of(*input);
    for (std::size_t row = 0; row < 2; ++row) {
      const auto first =
          std::find_if(batch.classes.begin() + static_cast<std::ptrdiff_t>(row * kBoxes),
                       batch.classes.end(), [](std::int32_t c) { return c > 0; });
      const auto i = static_cast<std::size_t>(first - batch.classes.begin());
      const Box box = corners_of(box_at(std::span<const float, 4>(&batch.offsets[i * 4], 4),
                                        default_boxes()[i - row * kBoxes]));
      const float* const rows = &batch.images[row * 3 * 300 * 300 + 150 * 300];
      const auto inside =
          static_cast<std::size_t>(std::clamp((box.x_min + box.x_max) / 2, 0.01, 0.99) * 300);
      const bool at_left = box.x_min < 0.01;
      const float outside = at_left ? rows[299] : rows[0];
      if (at_left ? box.x_max < 0.95 : box.x_min > 0.05) {
        EXPECT_LT(rows[inside], outside) << box.x_min << " to " << box.x_max;
      }
      mirrored += at_left ? 0 : 1;
    }
  }
  EXPECT_GT(mirrored, kSteps / 2);
  EXPECT_LT(mirrored, 3 * kSteps / 2);
}

TEST(CocoInput, HasOnlyBackgroundInImagesWithoutObjects) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 1}, {detection_example(wavy(1), {})});
  const Batch batch = next_of(*open({.data_dir = folder.path(), .num_threads = 1}));
  EXPECT_EQ(std::ranges::count(batch.classes, 0), std::ssize(batch.classes));
  EXPECT_EQ(std::ranges::count(batch.offsets, 0.0F), std::ssize(batch.offsets));
}

TEST(CocoInput, NumbersTheEightyClassesFromOne) {
  const TemporaryFolder folder;
  const Object whole{.x_min = 0, .y_min = 0, .x_max = 1, .y_max = 1, .id = 90};
  Object thirteenth = whole;
  thirteenth.id = 13;
  write_shards(folder, {.shards = 1},
               {detection_example(wavy(1), {whole}), detection_example(wavy(2), {thirteenth})});
  const Batch batch =
      next_of(*open({.data_dir = folder.path(), .num_threads = 1, .shuffle_buffer = 1}));
  const std::set<std::int32_t> seen(batch.classes.begin(), batch.classes.end());
  EXPECT_EQ(seen, (std::set<std::int32_t>{0, 12, 80}));
}

TEST(CocoInput, NamesBadRecords) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 1},
               {detection_example(wavy(1), {{.x_max = 1, .y_max = 1, .id = 12}})});
  const auto input = open({.data_dir = folder.path(), .num_threads = 1});
  EXPECT_THAT(test::message_of<DataError>([&] { input->next(); }),
              HasSubstr("offset 0: class 12 is not one of the 80 classes of COCO"));
}

TEST(CocoInput, CopiesImageAndNumbersToTheRowsOfBadRecords) {
  const TemporaryFolder folder;
  std::vector<std::string> records = examples(1);
  records.push_back(detection_example("no JPEG", {{.x_max = 1, .y_max = 1, .id = 7}}));
  write_shards(folder, {.shards = 1}, records);
  const auto input = open({.data_dir = folder.path(),
                           .num_threads = 2,
                           .shuffle_buffer = 1,
                           .bad_records = {.skip = true, .limit = bad_record_limit_from("100%")}});
  const Batch batch = next_of(*input);
  const auto rows_equal = [](const auto& values) {
    const auto middle = values.begin() + std::ssize(values) / 2;
    return std::equal(values.begin(), middle, middle);
  };
  EXPECT_TRUE(rows_equal(batch.images));
  EXPECT_TRUE(rows_equal(batch.offsets));
  EXPECT_TRUE(rows_equal(batch.classes));
}

/// The objects and the size of an image that is evaluated.
struct Evaluated {
  std::vector<float> image;
  std::vector<LabelledObject> objects;
  LabelledImageSize size;
};

Evaluated evaluated(const std::string& record) {
  const TemporaryFolder folder;
  write_shards(folder, {.prefix = "validation", .shards = 1}, {record});
  InputSpec numbers = spec();
  numbers.batch = 1;
  numbers.numbers = labelled_object_inputs();
  const auto input =
      make_dataset_input(dataset_named("coco"), numbers,
                         {.data_dir = folder.path(), .training = false, .num_threads = 1});
  const InputBatch batch = input->next();
  const auto* const objects = static_cast<const LabelledObject*>(batch.numbers[0].values);
  return {.image = {batch.images, batch.images + 3 * kSsdImageSize * kSsdImageSize},
          .objects = {objects, objects + kMostObjects},
          .size = *static_cast<const LabelledImageSize*>(batch.numbers[1].values)};
}

const std::vector<Object> kTwo{
    {.x_min = 0.25F, .y_min = 0.5F, .x_max = 0.75F, .y_max = 1, .id = 90},
    {.x_max = 1, .y_max = 1}};

TEST(CocoInput, EvaluatesTheObjectsInPixelsOfTheFile) {
  const Evaluated found =
      evaluated(example_of(wavy(1), kTwo)
                    .floats("image/object/area", std::vector<float>{500, 3000})
                    .ints("image/object/is_crowd", std::vector<std::int64_t>{0, 1})
                    .serialize());
  EXPECT_EQ(found.size.height, 48);
  EXPECT_EQ(found.size.width, 64);
  const LabelledObject& first = found.objects[0];
  EXPECT_THAT((std::vector{first.y_min, first.x_min, first.y_max, first.x_max}),
              testing::ElementsAre(24, 16, 48, 48));
  EXPECT_EQ(first.category, 80);
  EXPECT_EQ(first.area, 500);
  EXPECT_EQ(first.crowd, 0);
  EXPECT_EQ(found.objects[1].crowd, 1);
  EXPECT_EQ(found.objects[2].category, 0);
}

TEST(CocoInput, TakesTheAreaOfTheBoxIfTheRecordHasNone) {
  const Evaluated found = evaluated(detection_example(wavy(1), kTwo));
  EXPECT_EQ(found.objects[0].area, 24 * 32);
  EXPECT_EQ(found.objects[1].crowd, 0);
}

/// Each quarter of the image has another grey, which a mirror or a crop would move.
TEST(CocoInput, EvaluatesTheWholeImageUnchanged) {
  constexpr int kWidth = 80;
  constexpr int kHeight = 64;
  constexpr std::array<std::uint8_t, 4> kGreys{20, 90, 160, 230};
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      samples.insert(samples.end(), 3, kGreys.at(y / (kHeight / 2) * 2 + x / (kWidth / 2)));
    }
  }
  const Evaluated found = evaluated(detection_example(
      encode_jpeg({.samples = samples, .width = kWidth, .height = kHeight}), kTwo));
  const auto size = static_cast<std::size_t>(kSsdImageSize);
  for (const std::size_t y : {0UL, 140UL, 160UL, 299UL}) {
    for (const std::size_t x : {0UL, 140UL, 160UL, 299UL}) {
      const double grey = kGreys.at(y / 150 * 2 + x / 150);
      EXPECT_NEAR(found.image[y * size + x], (grey / 255 - 0.485) / 0.229, 0.05) << y << " " << x;
      EXPECT_NEAR(found.image[(2 * size + y) * size + x], (grey / 255 - 0.406) / 0.225, 0.05);
    }
  }
}

TEST(CocoInput, RefusesTooManyObjectsAndIncompleteFeatures) {
  const auto message = [](const std::string& record) {
    return test::message_of<DataError>([&] { evaluated(record); });
  };
  EXPECT_THAT(
      message(detection_example(wavy(1), std::vector<Object>(201, {.x_max = 0.5F, .y_max = 0.5F}))),
      HasSubstr("there are 201 boxes; an evaluation accepts at most 200"));
  EXPECT_THAT(
      message(
          example_of(wavy(1), kTwo).floats("image/object/area", std::vector<float>{1}).serialize()),
      HasSubstr("image/object/area must have a float and image/object/is_crowd an integer "
                "for each of the 2 boxes"));
}

TEST(CocoInput, NeedsShards) {
  const TemporaryFolder folder;
  EXPECT_THAT(test::message_of<UsageError>([&] { open({.data_dir = folder.path()}); }),
              HasSubstr("the folder contains no shards (train-*-of-*)"));
}

}  // namespace
}  // namespace bench

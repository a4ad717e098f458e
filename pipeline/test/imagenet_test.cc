#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;

using test::Batches;
using test::examples;
using test::kImage;
using test::small_spec;
using test::take;

TEST(ImagenetInput, GivesTheSameBitsForAnyNumberOfThreadsAndSlots) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(25));
  const auto batches = [&](int threads, int slots, int readers = 1) {
    const auto input = make_imagenet_input(small_spec(4), {.data_dir = folder.path(),
                                                           .num_threads = threads,
                                                           .prefetch_batches = slots,
                                                           .num_readers = readers,
                                                           .shuffle_buffer = 10});
    return take(*input, 4, 20);
  };
  const Batches one = batches(1, 3);
  EXPECT_EQ(batches(2, 3), one);
  EXPECT_EQ(batches(8, 3), one);
  EXPECT_EQ(batches(3, 2), one);
  EXPECT_EQ(batches(5, 7), one);
  EXPECT_EQ(batches(1, 3, 4), one);
  EXPECT_EQ(batches(8, 2, 4), one);
}

TEST(ImagenetInput, GivesSeveralProcessesTogetherTheBatchesOfOne) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(25));
  constexpr std::int64_t kAll = 12;
  constexpr int kBatches = 5;  // more than two epochs
  for (const bool cache : {false, true}) {
    const DatasetOptions options{.data_dir = folder.path(),
                                 .num_threads = 2,
                                 .num_readers = cache ? 1 : 3,
                                 .shuffle_buffer = 10,
                                 .use_caching = cache};
    const auto one = make_imagenet_input(small_spec(kAll), options);
    const Batches expected = take(*one, kAll, kBatches);
    for (const std::int64_t processes : {2, 3, 12}) {
      const std::int64_t batch = kAll / processes;
      std::vector<std::unique_ptr<InputSource>> inputs;
      for (std::int64_t process = 0; process < processes; ++process) {
        InputSpec spec = small_spec(batch);
        spec.global_batch = kAll;
        spec.first_image = process * batch;
        inputs.push_back(make_imagenet_input(spec, options));
      }
      Batches together;
      for (int i = 0; i < kBatches; ++i) {
        for (const auto& input : inputs) {
          const Batches own = take(*input, batch, 1);
          together.images.insert(together.images.end(), own.images.begin(), own.images.end());
          together.labels.insert(together.labels.end(), own.labels.begin(), own.labels.end());
        }
      }
      EXPECT_EQ(together, expected) << processes << " processes";
    }
  }
}

TEST(ImagenetInput, ContinuesAfterAnyBatch) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(25));
  constexpr std::int64_t kBatch = 4;
  constexpr int kBatches = 14;  // more than two epochs
  // A shuffle buffer smaller and larger than the dataset; a cache; other processes' images.
  for (const DatasetOptions& options :
       {DatasetOptions{.data_dir = folder.path(), .num_threads = 1, .shuffle_buffer = 10},
        DatasetOptions{.data_dir = folder.path(), .num_threads = 8, .shuffle_buffer = 100},
        DatasetOptions{
            .data_dir = folder.path(), .num_threads = 2, .shuffle_buffer = 10, .use_caching = true},
        DatasetOptions{
            .data_dir = folder.path(), .num_threads = 2, .num_readers = 4, .shuffle_buffer = 10},
        DatasetOptions{.data_dir = folder.path(), .training = false, .num_threads = 2}}) {
    if (!options.training) {
      write_shards(folder, {.prefix = "validation", .shards = 2}, examples(25));
    }
    for (const std::int64_t processes : {1, 2}) {
      InputSpec spec = small_spec(kBatch);
      spec.global_batch = kBatch * processes;
      const auto whole = make_imagenet_input(spec, options);
      std::vector<Batches> batches;
      std::vector<InputPosition> places = {{}};
      for (int i = 0; i < kBatches; ++i) {
        const InputBatch next = whole->next();
        batches.push_back({.images = {next.images, next.images + kBatch * kImage},
                           .labels = {next.labels, next.labels + kBatch}});
        places.push_back(next.following);
      }
      for (std::size_t first = 0; first < batches.size(); ++first) {
        spec.start = places[first];
        const auto rest = make_imagenet_input(spec, options);
        for (std::size_t i = first; i < std::min(batches.size(), first + 3); ++i) {
          EXPECT_EQ(take(*rest, kBatch, 1), batches[i]) << "from batch " << first << ": " << i;
        }
      }
    }
  }
}

TEST(ImagenetInput, GivesPixelsAtMostHalfAGreyLevelFromTheFloats) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(25));
  for (const ResizeMethod method : {ResizeMethod::bilinear, ResizeMethod::crop}) {
    const auto open = [&](SlotType type) {
      InputSpec spec = small_spec(5);
      spec.layout = SlotLayout::nhwc;
      spec.type = type;
      return make_imagenet_input(
          spec, {.data_dir = folder.path(), .resize_method = method, .num_threads = 2});
    };
    const auto floats = open(SlotType::f32);
    const auto bytes = open(SlotType::u8);
    float furthest = 0;
    for (int i = 0; i < 8; ++i) {
      const InputBatch expected = floats->next();
      const InputBatch given = bytes->next();
      ASSERT_EQ(given.images, nullptr);
      ASSERT_EQ(expected.pixels, nullptr);
      EXPECT_TRUE(std::equal(given.labels, given.labels + 5, expected.labels));
      for (std::size_t p = 0; p < 5 * kImage; ++p) {
        const float pixel = (expected.images[p] + 1) * 127.5F;
        furthest = std::max(furthest, std::abs(static_cast<float>(given.pixels[p]) - pixel));
      }
    }
    // Undoing the normalisation rounds again: 255 to within 2^-16.
    constexpr float kRounding = 1.0F / 4096;
    EXPECT_LE(furthest, method == ResizeMethod::crop ? kRounding : 0.5F + kRounding);
    EXPECT_GE(furthest, method == ResizeMethod::crop ? 0 : 0.4F) << "a resize leaves fractions";
  }
}

TEST(ImagenetInput, GivesEveryImageOncePerEpochReorderedAndDistorted) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 3}, examples(24));
  const auto input =
      make_imagenet_input(small_spec(24), {.data_dir = folder.path(), .num_threads = 2});
  std::set<std::vector<std::int32_t>> orders;
  std::set<std::vector<float>> forms;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Batches batch = take(*input, 24, 1);
    orders.insert(batch.labels);
    const auto place = static_cast<std::ptrdiff_t>(
        std::find(batch.labels.begin(), batch.labels.end(), 5) - batch.labels.begin());
    const auto image = batch.images.begin() + place * static_cast<std::ptrdiff_t>(kImage);
    forms.insert({image, image + kImage});
    EXPECT_EQ(std::set<std::int32_t>(batch.labels.begin(), batch.labels.end()).size(), 24U);
  }
  EXPECT_EQ(orders.size(), 3U);
  EXPECT_EQ(forms.size(), 3U);
}

TEST(ImagenetInput, EvaluatesInOrderAndWrapsAround) {
  const TemporaryFolder folder;
  write_shards(folder, {.prefix = "validation", .shards = 2}, examples(6));
  const auto input = make_imagenet_input(
      small_spec(4), {.data_dir = folder.path(), .training = false, .num_threads = 3});
  const Batches batches = take(*input, 4, 3);
  EXPECT_EQ(batches.labels, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(std::equal(batches.images.begin(), batches.images.begin() + 6 * kImage,
                         batches.images.begin() + 6 * kImage))
      << "evaluation distorts nothing";
}

TEST(ImagenetInput, CountsLabelsFromTheFirstOne) {
  const TemporaryFolder folder;
  write_shards(folder, {.prefix = "validation", .shards = 1}, examples(3));
  InputSpec spec = small_spec(3);
  spec.num_classes = 3;
  spec.first_label = 1;
  const DatasetOptions options{.data_dir = folder.path(), .training = false, .num_threads = 1};
  EXPECT_EQ(take(*make_imagenet_input(spec, options), 3, 1).labels,
            (std::vector<std::int32_t>{0, 1, 2}));

  spec.num_classes = 2;
  EXPECT_THAT(
      test::message_of<DataError>([&] { make_imagenet_input(spec, options)->next(); }),
      testing::HasSubstr("label 3 is out of range; 1 to 2 are accepted; use --num_classes=4 to"));
  spec.first_label = 2;
  EXPECT_THAT(
      test::message_of<DataError>([&] { make_imagenet_input(spec, options)->next(); }),
      testing::HasSubstr("label 1 is out of range; 2 to 3 are accepted; use --num_classes=4 to"));
}

TEST(ImagenetInput, NamesNoNumberOfClassesForLabelsThatNoNetworkTakes) {
  for (const std::int64_t label : {std::int64_t{-1}, std::int64_t{1} << 24, std::int64_t{1} << 32,
                                   std::numeric_limits<std::int64_t>::max()}) {
    const TemporaryFolder folder;
    write_shards(folder, {.prefix = "validation", .shards = 1},
                 {test::image_example(test::flat_jpeg(8, 8, 1), label)});
    const DatasetOptions options{.data_dir = folder.path(), .training = false, .num_threads = 1};
    InputSpec spec = small_spec(1);
    spec.num_classes = 3;
    EXPECT_THAT(
        test::message_of<DataError>([&] { make_imagenet_input(spec, options)->next(); }),
        testing::EndsWith(fmt::format("label {} is out of range; 0 to 2 are accepted", label)));
  }
}

TEST(ImagenetInput, ShowsTheSameImagesInBothLayouts) {
  const TemporaryFolder folder;
  write_shards(folder, {}, examples(5));
  InputSpec spec = small_spec(5);
  const DatasetOptions options{.data_dir = folder.path(), .num_threads = 2};
  const Batches nchw = take(*make_imagenet_input(spec, options), 5, 1);
  spec.layout = SlotLayout::nhwc;
  const Batches nhwc = take(*make_imagenet_input(spec, options), 5, 1);
  EXPECT_EQ(nchw.labels, nhwc.labels);
  constexpr std::size_t kPixels = kImage / 3;
  for (std::size_t n = 0; n < 5; ++n) {
    for (std::size_t i = 0; i < kImage; ++i) {
      ASSERT_EQ(nchw.images[n * kImage + i],
                nhwc.images[n * kImage + i % kPixels * 3 + i / kPixels]);
    }
  }
}

TEST(ImagenetInput, CachesWithoutChangingTheFirstEpochAndRepeatsOneSampleOnRequest) {
  const TemporaryFolder folder;
  write_shards(folder, {.shards = 1}, examples(8));
  DatasetOptions options{.data_dir = folder.path(), .num_threads = 2};
  const auto plain = make_imagenet_input(small_spec(8), options);
  options.use_caching = true;
  const auto cached = make_imagenet_input(small_spec(8), options);
  EXPECT_EQ(take(*cached, 8, 3), take(*plain, 8, 3));

  options.repeat_cached_sample = true;
  const auto repeated = make_imagenet_input(small_spec(8), options);
  const Batches batches = take(*repeated, 8, 2);
  EXPECT_EQ(std::count(batches.labels.begin(), batches.labels.end(), 1), 16);
  EXPECT_FALSE(std::equal(batches.images.begin(), batches.images.begin() + kImage,
                          batches.images.begin() + kImage))
      << "each repetition has new distortions";
}

TEST(ImagenetInput, CountsItsWork) {
  const TemporaryFolder folder;
  auto records = examples(6);
  records.push_back(test::image_example(test::wavy_jpeg({.components = 1}), 7));
  records.push_back(test::image_example(test::wavy_jpeg({.components = 4}), 8));
  write_shards(folder, {}, records);
  const auto input =
      make_imagenet_input(small_spec(8), {.data_dir = folder.path(), .num_threads = 2});
  input->next();
  const InputStatistics statistics = input->statistics();
  EXPECT_EQ(statistics.images_delivered, 8);
  EXPECT_GE(statistics.images_prepared, 8);
  EXPECT_GE(statistics.grey_images, 1);
  EXPECT_GE(statistics.cmyk_images, 1);
  EXPECT_EQ(statistics.threads, 2);
  EXPECT_EQ(statistics.shards, 2);
  EXPECT_GT(statistics.record_bytes, 1000U);
  EXPECT_GT(statistics.shard_bytes, 1000U);
  EXPECT_GT(statistics.decode_busy.count(), 0);
  EXPECT_GT(statistics.resize_busy.count(), 0);
  EXPECT_GT(statistics.parse_busy.count(), 0);
  EXPECT_GE(statistics.consumer_wait.count(), 0);
}

TEST(ImagenetInput, EndsCleanlyAtAnyMoment) {
  const TemporaryFolder folder;
  write_shards(folder, {}, examples(10));
  for (int taken = 0; taken < 20; ++taken) {
    const auto input = make_imagenet_input(
        small_spec(3), {.data_dir = folder.path(), .num_threads = 1 + taken % 4});
    for (int i = 0; i < taken % 5; ++i) {
      input->next();
    }
  }
}

/// Counts allocations and frees.
class CountingAllocator final : public HostAllocator {
 public:
  void* allocate(std::size_t bytes) override {
    balance_ += static_cast<std::int64_t>(bytes);
    ++allocations_;
    return ordinary_->allocate(bytes);
  }
  void free(void* memory, std::size_t bytes) noexcept override {
    balance_ -= static_cast<std::int64_t>(bytes);
    ordinary_->free(memory, bytes);
  }
  [[nodiscard]] std::int64_t balance() const { return balance_; }
  [[nodiscard]] int allocations() const { return allocations_; }

 private:
  std::shared_ptr<HostAllocator> ordinary_ = make_host_allocator();
  std::int64_t balance_ = 0;
  int allocations_ = 0;
};

TEST(ImagenetInput, TakesItsSlotsFromTheAllocatorAndGivesThemBack) {
  const TemporaryFolder folder;
  write_shards(folder, {}, examples(3));
  const auto allocator = std::make_shared<CountingAllocator>();
  {
    const auto input = make_imagenet_input(
        small_spec(2), {.data_dir = folder.path(), .prefetch_batches = 4}, allocator);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(input->next().images) % 64, 0U);
    EXPECT_EQ(allocator->allocations(), 8);
  }
  EXPECT_EQ(allocator->balance(), 0);
}

TEST(ImagenetInput, ReadsWhatTensorFlowWrote) {
  const char* folder = std::getenv("BENCH_TEST_TFRECORDS");
  if (folder == nullptr) {
    GTEST_SKIP()
        << "BENCH_TEST_TFRECORDS must name a folder with the shards train-* and validation-*, "
           "written by TensorFlow; the grey level of an image encodes its label";
  }
  InputSpec spec = small_spec(64);
  spec.num_classes = 1001;
  for (const bool training : {true, false}) {
    const auto input =
        make_imagenet_input(spec, {.data_dir = folder, .training = training, .num_threads = 2});
    std::map<std::int32_t, float> grey_of;
    for (int step = 0; step < 4; ++step) {
      const Batches batch = take(*input, 64, 1);
      for (std::size_t i = 0; i < 64; ++i) {
        const auto image = batch.images.begin() + static_cast<std::ptrdiff_t>(i * kImage);
        const float grey = grey_of.emplace(batch.labels[i], *image).first->second;
        EXPECT_TRUE(std::all_of(image, image + kImage, [grey](float x) { return x == grey; }));
      }
    }
    EXPECT_EQ(grey_of.size(), 10U);
    std::set<float> greys;
    for (const auto& [label, grey] : grey_of) {
      greys.insert(grey);
    }
    EXPECT_EQ(greys.size(), 10U);
  }
}

}  // namespace
}  // namespace bench

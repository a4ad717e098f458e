#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using test::TemporaryFolder;
using testing::HasSubstr;

constexpr int kSide = 32;
constexpr int kPlane = kSide * kSide;
constexpr std::size_t kImage = 3 * kPlane;

/// The value of a pixel of record `i`: never 0, so that padding shows.
int pixel(int i, int channel, int y, int x) {
  return 1 + (i * 31 + channel * 83 + y * 7 + x) % 255;
}

/// Returns records `first` .. `first + count - 1`; record i has label i % 10.
std::string records(int first, int count) {
  std::string bytes;
  for (int i = first; i < first + count; ++i) {
    bytes.push_back(static_cast<char>(i % 10));
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
          bytes.push_back(static_cast<char>(pixel(i, c, y, x)));
        }
      }
    }
  }
  return bytes;
}

/// The same records as a batch of the Python version, as Python 2 pickled it with protocol 2.
std::string pickle_of(std::string_view bytes) {
  constexpr std::size_t kRecord = 1 + kImage;
  const auto count = static_cast<char>(bytes.size() / kRecord);
  std::string labels;
  std::string images;
  for (std::size_t at = 0; at < bytes.size(); at += kRecord) {
    labels += {'K', bytes[at]};
    images += bytes.substr(at + 1, kImage);
  }
  const auto size = static_cast<std::uint32_t>(images.size());
  std::string length(sizeof(size), '\0');
  std::memcpy(length.data(), &size, sizeof(size));
  using namespace std::string_literals;
  return "\x80\x02}q\x01(U\x04"s + "dataq\x02"s + "cnumpy.core.multiarray\n_reconstruct\nq\x03"s +
         "cnumpy\nndarray\nq\x04K\x00\x85U\x01"s + "b\x87Rq\x05(K\x01K"s + count +
         "M\x00\x0c\x86"s + "cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01"s +
         "\x87Rq\x07(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"s + length +
         images + "tbU\x06labelsq\x08](" + labels + "eu.";
}

/// Writes three training records in two files, and two evaluation records.
void write_dataset(const TemporaryFolder& folder) {
  test::write_file(folder.file("data_batch_1.bin"), records(0, 2));
  test::write_file(folder.file("data_batch_2.bin"), records(2, 1));
  test::write_file(folder.file("test_batch.bin"), records(5, 2));
}

InputSpec spec_of(std::int64_t batch, SlotLayout layout = SlotLayout::nchw) {
  return {.batch = batch,
          .height = kSide,
          .width = kSide,
          .layout = layout,
          .num_classes = 11,
          .seed = 7};
}

struct Batch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  bool operator==(const Batch&) const = default;
};

Batch take(InputSource& input, std::int64_t batch) {
  const InputBatch next = input.next();
  return {{next.images, next.images + static_cast<std::size_t>(batch) * kImage},
          {next.labels, next.labels + batch}};
}

TEST(Cifar10Input, EvaluatesInOrderAndScalesToOne) {
  const TemporaryFolder folder;
  write_dataset(folder);
  const auto input = make_cifar10_input(spec_of(3), {.data_dir = folder.path(), .training = false});
  const Batch batch = take(*input, 3);
  EXPECT_EQ(batch.labels, (std::vector<std::int32_t>{5, 6, 5}));
  for (const int i : {0, 1}) {
    for (const int c : {0, 2}) {
      const std::size_t place = static_cast<std::size_t>(i) * kImage +
                                static_cast<std::size_t>(c * kPlane + 9 * kSide + 30);
      EXPECT_FLOAT_EQ(batch.images[place], static_cast<float>(pixel(5 + i, c, 9, 30)) / 127.5F - 1);
    }
  }
}

TEST(Cifar10Input, GivesTheFilesPixelsInBytes) {
  const TemporaryFolder folder;
  write_dataset(folder);
  const DatasetOptions options{.data_dir = folder.path(), .distortions = true};
  InputSpec spec = spec_of(3, SlotLayout::nhwc);
  const auto floats = make_cifar10_input(spec, options);
  spec.type = SlotType::u8;
  const auto bytes = make_cifar10_input(spec, options);
  for (int i = 0; i < 3; ++i) {
    const InputBatch expected = floats->next();
    const InputBatch given = bytes->next();
    ASSERT_EQ(given.images, nullptr);
    EXPECT_TRUE(std::equal(given.labels, given.labels + 3, expected.labels));
    for (std::size_t p = 0; p < 3 * kImage; ++p) {
      ASSERT_EQ(static_cast<float>(given.pixels[p]) / 127.5F - 1, expected.images[p]);
    }
  }
}

TEST(Cifar10Input, SaysWhichBatchesMayRepeatEarlierContents) {
  const TemporaryFolder folder;
  write_dataset(folder);
  const auto input = make_cifar10_input(spec_of(4), {.data_dir = folder.path()});
  const std::int64_t images = input->statistics().records;
  for (std::int64_t last = 3; last < 3 * images; last += 4) {
    EXPECT_EQ(input->next().epoch, last / images) << "last image " << last;
  }
}

TEST(Cifar10Input, ShowsTheSameImagesInBothLayouts) {
  const TemporaryFolder folder;
  write_dataset(folder);
  const DatasetOptions options{.data_dir = folder.path(), .distortions = true};
  const Batch nchw = take(*make_cifar10_input(spec_of(1), options), 1);
  const Batch nhwc = take(*make_cifar10_input(spec_of(1, SlotLayout::nhwc), options), 1);
  EXPECT_EQ(nchw.labels, nhwc.labels);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t p = 0; p < kPlane; ++p) {
      ASSERT_EQ(nchw.images[c * kPlane + p], nhwc.images[p * 3 + c]) << c << " " << p;
    }
  }
}

TEST(Cifar10Input, GivesEveryImageOncePerEpochForAnyThreadCount) {
  const TemporaryFolder folder;
  write_dataset(folder);
  const auto epochs = [&](int threads) {
    const auto input = make_cifar10_input(
        spec_of(3), {.data_dir = folder.path(), .num_threads = threads, .distortions = true});
    std::vector<Batch> batches;
    for (int i = 0; i < 20; ++i) {
      batches.push_back(take(*input, 3));
    }
    return batches;
  };
  const std::vector<Batch> one = epochs(1);
  std::set<std::vector<std::int32_t>> orders;
  for (const Batch& batch : one) {
    EXPECT_EQ(std::set<std::int32_t>(batch.labels.begin(), batch.labels.end()),
              (std::set<std::int32_t>{0, 1, 2}));
    orders.insert(batch.labels);
  }
  EXPECT_GT(orders.size(), 1U);
  EXPECT_EQ(epochs(4), one);
}

/// True if the image is record `i` shifted by (down, right) within zeros, mirrored if `flip`.
bool is_shifted(const float* image, int i, int down, int right, bool flip) {
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const int from_y = y + down;
      const int from_x = (flip ? kSide - 1 - x : x) + right;
      const bool inside = 0 <= from_y && from_y < kSide && 0 <= from_x && from_x < kSide;
      const float value = inside ? static_cast<float>(pixel(i, 0, from_y, from_x)) : 0;
      if (std::abs(image[y * kSide + x] - (value / 127.5F - 1)) > 1e-6F) {
        return false;
      }
    }
  }
  return true;
}

TEST(Cifar10Input, RefusesFilesTooLargeToBeKeptInMemory) {
  const TemporaryFolder folder;
  const std::string path = folder.file("test_batch.bin");
  test::write_file(path, "");
  std::filesystem::resize_file(path, 10'000'000 * std::uintmax_t{3073});
  EXPECT_EQ(test::message_of<DataError>([&] {
              make_cifar10_input(spec_of(1), {.data_dir = folder.path(), .training = false});
            }),
            path +
                ": 30730000000 bytes are too many; at most 1073741824 are accepted in total, "
                "because the files are kept in memory; CIFAR-10 files have 30730000 each");
}

TEST(Cifar10Input, DistortsByShiftsOfUpToFourPixelsAndByMirroring) {
  const TemporaryFolder folder;
  test::write_file(folder.file("data_batch_1.bin"), records(0, 1));
  const auto input =
      make_cifar10_input(spec_of(300), {.data_dir = folder.path(), .distortions = true});
  const Batch batch = take(*input, 300);
  std::set<int> downs;
  std::set<int> rights;
  int flips = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    int found = 0;
    for (int down = -4; down <= 4; ++down) {
      for (int right = -4; right <= 4; ++right) {
        for (const bool flip : {false, true}) {
          if (is_shifted(&batch.images[i * kImage], 0, down, right, flip)) {
            ++found;
            downs.insert(down);
            rights.insert(right);
            flips += flip ? 1 : 0;
          }
        }
      }
    }
    ASSERT_EQ(found, 1) << i;
  }
  EXPECT_EQ(downs.size(), 9U);
  EXPECT_EQ(rights.size(), 9U);
  EXPECT_NEAR(flips, 150, 45);  // five standard deviations
}

TEST(Cifar10Input, LeavesImagesAloneUnlessAskedToDistort) {
  const TemporaryFolder folder;
  test::write_file(folder.file("data_batch_1.bin"), records(4, 1));
  const auto input = make_cifar10_input(spec_of(4), {.data_dir = folder.path()});
  const Batch batch = take(*input, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(is_shifted(&batch.images[i * kImage], 4, 0, 0, false));
  }
}

TEST(Cifar10Input, RefusesFoldersWithoutItsFiles) {
  const TemporaryFolder folder;
  const auto refusal = [&] {
    return test::message_of<UsageError>(
        [&] { make_cifar10_input(spec_of(1), {.data_dir = folder.path()}); });
  };
  EXPECT_THAT(refusal(), HasSubstr("neither files data_batch_*.bin (CIFAR-10's binary version) nor "
                                   "data_batch_[0-9] (its Python version)"));
}

TEST(Cifar10Input, ReadsThePythonVersion) {
  const TemporaryFolder binary;
  const TemporaryFolder pickled;
  write_dataset(binary);
  test::write_file(pickled.file("data_batch_1"), pickle_of(records(0, 2)));
  test::write_file(pickled.file("data_batch_2"), pickle_of(records(2, 1)));
  test::write_file(pickled.file("test_batch"), pickle_of(records(5, 2)));
  for (const bool training : {true, false}) {
    const auto first = [&](const TemporaryFolder& folder) {
      const DatasetOptions options{.data_dir = folder.path(), .training = training};
      return take(*make_cifar10_input(spec_of(5), options), 5);
    };
    EXPECT_EQ(first(pickled), first(binary));
  }
}

TEST(Cifar10Input, RefusesPicklesOfSomethingElse) {
  const TemporaryFolder folder;
  const std::string batch = pickle_of(records(0, 2));
  const auto refusal = [&](std::string_view from, std::string_view to) {
    std::string changed = batch;
    changed.replace(changed.find(from), from.size(), to);
    test::write_file(folder.file("data_batch_1"), changed);
    return test::message_of<DataError>(
        [&] { make_cifar10_input(spec_of(1), {.data_dir = folder.path()}); });
  };
  EXPECT_THAT(refusal("labels", "lapels"),
              HasSubstr("data_batch_1: cannot read the batch of CIFAR-10's Python version: this is "
                        "not a dictionary with 'labels'"));
  EXPECT_THAT(refusal("U\x02u1", "U\x02u2"), HasSubstr("must be an array of uint8 with 2 rows"));
  EXPECT_THAT(refusal("K\x02M", "K\x03M"), HasSubstr("must be an array of uint8 with 2 rows"));
  EXPECT_THAT(refusal("reconstruct", "destructing"), HasSubstr("'data' is not a NumPy array"));
  EXPECT_THAT(refusal("K\x01"
                      "eu",
                      "K\x01K\x05"
                      "eu"),
              HasSubstr("with 3 rows, one per label"));
  EXPECT_THAT(refusal("K\x01"
                      "eu",
                      "Neu"),
              HasSubstr("label 1 of the list is not a number"));
  test::write_file(folder.file("data_batch_1"), "pickled");
  EXPECT_THAT(test::message_of<DataError>(
                  [&] { make_cifar10_input(spec_of(1), {.data_dir = folder.path()}); }),
              HasSubstr("data_batch_1: cannot read the batch of CIFAR-10's Python version"));
}

TEST(Cifar10Input, RefusesOtherSizes) {
  InputSpec spec = spec_of(1);
  spec.height = 24;
  EXPECT_THAT(
      test::message_of<UsageError>([&] { make_cifar10_input(spec, {.data_dir = "nowhere"}); }),
      HasSubstr("cifar10 images are 32 x 32 pixels with 3 channels, not 24 x 32"));
}

TEST(Cifar10Input, RefusesFilesWithAPartialRecord) {
  const TemporaryFolder folder;
  test::write_file(folder.file("data_batch_1.bin"), records(0, 1) + "x");
  const std::string message = test::message_of<DataError>(
      [&] { make_cifar10_input(spec_of(1), {.data_dir = folder.path()}); });
  EXPECT_THAT(message, HasSubstr("data_batch_1.bin: 3074 bytes are not a whole number"));
  test::write_file(folder.file("data_batch_1.bin"), "");
  EXPECT_THROW(make_cifar10_input(spec_of(1), {.data_dir = folder.path()}), DataError);
}

TEST(Cifar10Input, NamesTheRecordOfALabelOutOfRange) {
  const TemporaryFolder folder;
  test::write_file(folder.file("test_batch.bin"), records(8, 2));
  InputSpec spec = spec_of(2);
  spec.num_classes = 9;
  const auto input = make_cifar10_input(spec, {.data_dir = folder.path(), .training = false});
  EXPECT_THAT(test::message_of<DataError>([&] { input->next(); }),
              testing::AllOf(HasSubstr("test_batch.bin, offset 3073: label 9 is out of range"),
                             HasSubstr("0 to 8 are accepted")));
}

}  // namespace
}  // namespace bench

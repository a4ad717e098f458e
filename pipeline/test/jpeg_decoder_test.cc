#include "pipeline/formats/jpeg_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

/// The red, green and blue of each pixel of a view.
std::vector<int> channels_of(const RgbxView& view) {
  std::vector<int> out;
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        out.push_back(static_cast<int>(channel_of(view.row(y)[x], c)));
      }
    }
  }
  return out;
}

std::vector<int> decode(JpegDecoder& decoder, const std::string& jpeg, const PixelWindow& window) {
  decoder.open(jpeg);
  return channels_of(decoder.decode(window));
}

std::vector<int> part_of(const std::vector<int>& whole, int whole_width,
                         const PixelWindow& window) {
  std::vector<int> out;
  for (int y = window.y; y < window.y + window.height; ++y) {
    const auto row = whole.begin() + static_cast<std::ptrdiff_t>(3) * (y * whole_width + window.x);
    out.insert(out.end(), row, row + static_cast<std::ptrdiff_t>(3) * window.width);
  }
  return out;
}

int largest_difference(const std::vector<int>& a, const std::vector<int>& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

TEST(JpegDecoder, DecodesAWindowExactlyAsTheSameWindowOfTheWholeImage) {
  const test::Picture picture{.width = 133, .height = 101};
  const PixelWindow everything{.x = 0, .y = 0, .width = picture.width, .height = picture.height};
  RandomStream random(5);
  for (const DctMethod dct : {DctMethod::accurate, DctMethod::fast}) {
    for (const int components : {1, 3, 4}) {
      for (const int halve : {1, 2}) {
        for (const bool progressive : {true, false}) {
          test::Picture drawn = picture;
          drawn.components = components;
          const std::string jpeg = test::wavy_jpeg(
              drawn, {.sampling = {{{halve, halve}, {}, {}}}, .progressive = progressive});
          JpegDecoder decoder(dct);
          const std::vector<int> whole = decode(decoder, jpeg, everything);
          for (int round = 0; round < 60; ++round) {
            PixelWindow window;
            window.width = 1 + static_cast<int>(random.below(133));
            window.height = 1 + static_cast<int>(random.below(101));
            window.x =
                static_cast<int>(random.below(static_cast<std::uint32_t>(134 - window.width)));
            window.y =
                static_cast<int>(random.below(static_cast<std::uint32_t>(102 - window.height)));
            ASSERT_EQ(decode(decoder, jpeg, window), part_of(whole, picture.width, window))
                << "components " << components << " halve " << halve << " progressive "
                << progressive << " window " << window.width << "x" << window.height << "+"
                << window.x << "+" << window.y;
          }
        }
      }
    }
  }
}

TEST(JpegDecoder, GivesBackThePictureAsFarAsTheEncodingKeepsIt) {
  const test::Picture picture{.width = 40, .height = 30};
  const auto samples = test::wavy_samples(picture);
  const std::string jpeg = test::wavy_jpeg(picture, {.quality = 100, .sampling = {}});
  JpegDecoder decoder(DctMethod::accurate);
  const auto pixels = decode(decoder, jpeg, {.x = 0, .y = 0, .width = 40, .height = 30});
  EXPECT_LE(largest_difference(pixels, {samples.begin(), samples.end()}), 4);
}

TEST(JpegDecoder, ExpandsGrey) {
  const test::Picture picture{.width = 40, .height = 30, .components = 1};
  JpegDecoder decoder(DctMethod::accurate);
  const std::string jpeg = test::wavy_jpeg(picture, {.quality = 100});
  EXPECT_EQ(decoder.open(jpeg).components, 1);
  const auto pixels = channels_of(decoder.decode({.x = 0, .y = 0, .width = 40, .height = 30}));
  const auto samples = test::wavy_samples(picture);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_NEAR(pixels[3 * i], samples[i], 3);
    EXPECT_EQ(pixels[3 * i], pixels[3 * i + 1]);
    EXPECT_EQ(pixels[3 * i], pixels[3 * i + 2]);
  }
}

TEST(JpegDecoder, MultipliesTheInvertedInksOfAdobesCmyk) {
  // libjpeg marks the CMYK that it writes as Adobe's, which readers treat as inverted inks.
  std::vector<std::uint8_t> inks;
  for (int i = 0; i < 16 * 16; ++i) {
    inks.insert(inks.end(), {200, 100, 50, 128});
  }
  const std::string jpeg =
      encode_jpeg({.samples = inks, .width = 16, .height = 16, .components = 4}, {.quality = 100});
  JpegDecoder decoder(DctMethod::accurate);
  EXPECT_EQ(decoder.open(jpeg).components, 4);
  const RgbxView view = decoder.decode({.x = 3, .y = 3, .width = 5, .height = 5});
  EXPECT_NEAR(channel_of(view.row(2)[2], 0), 200 * 128 / 255, 2);
  EXPECT_NEAR(channel_of(view.row(2)[2], 1), 100 * 128 / 255, 2);
  EXPECT_NEAR(channel_of(view.row(2)[2], 2), 50 * 128 / 255, 2);
}

TEST(JpegDecoder, NamesTheFormatOfOtherFiles) {
  JpegDecoder decoder(DctMethod::accurate);
  const auto reason = [&decoder](const std::string& data) {
    return test::message_of<DataError>([&] { decoder.open(data); });
  };
  EXPECT_THAT(reason(""), HasSubstr("empty"));
  EXPECT_THAT(reason("\x89PNG\r\n\x1a\n"), HasSubstr("not a JPEG: it is a PNG"));
  EXPECT_THAT(reason("GIF89a"), HasSubstr("GIF"));
  EXPECT_THAT(reason("hello"), HasSubstr("not a JPEG"));
  EXPECT_THAT(reason("\xff\xd8 nothing that follows"), HasSubstr("cannot decode the JPEG"));
}

TEST(JpegDecoder, RefusesATruncatedImageWhateverTheWindow) {
  const std::string jpeg = test::wavy_jpeg({.width = 64, .height = 64});
  JpegDecoder decoder(DctMethod::accurate);
  for (std::size_t length = 0; length + 1 < jpeg.size(); ++length) {
    const std::string cut = jpeg.substr(0, length);
    EXPECT_THROW(
        {
          decoder.open(cut);
          decoder.decode({.x = 0, .y = 0, .width = 1, .height = 1});
        },
        DataError)
        << length;
  }
  const auto whole = decode(decoder, jpeg, {.x = 0, .y = 0, .width = 64, .height = 64});
  EXPECT_EQ(whole.size(), 64U * 64U * 3U) << "a decoder goes on after errors";
}

TEST(JpegDecoder, RefusesDataThatEndTooEarlyBeforeTheirEndMarker) {
  const std::string jpeg = test::wavy_jpeg({.width = 64, .height = 64});
  const std::string hole = jpeg.substr(0, jpeg.size() / 2) + "\xff\xd9";
  JpegDecoder decoder(DctMethod::accurate);
  EXPECT_THROW(decode(decoder, hole, {.x = 0, .y = 0, .width = 64, .height = 64}), DataError);
}

TEST(JpegDecoder, RefusesHugeImagesBeforeAllocating) {
  std::string jpeg = test::wavy_jpeg({.width = 64, .height = 64});
  const std::size_t frame = jpeg.find("\xff\xc0");  // start of frame: height and width follow
  ASSERT_NE(frame, std::string::npos);
  for (std::size_t i = frame + 5; i < frame + 9; ++i) {
    jpeg[i] = '\x7f';
  }
  JpegDecoder decoder(DctMethod::accurate);
  EXPECT_THAT(test::message_of<DataError>([&] { decoder.open(jpeg); }),
              HasSubstr("32639 x 32639 pixels"));
}

TEST(JpegDecoder, RefusesProgressiveImagesThatWouldFillTheMemory) {
  std::string jpeg = test::wavy_jpeg({.width = 64, .height = 64}, {.progressive = true});
  const std::size_t frame = jpeg.find("\xff\xc2");  // start of frame: height and width follow
  ASSERT_NE(frame, std::string::npos);
  for (const std::size_t i : {frame + 5, frame + 7}) {
    jpeg[i] = '\x1f';
    jpeg[i + 1] = '\xff';
  }
  JpegDecoder decoder(DctMethod::accurate);
  EXPECT_THAT(test::message_of<DataError>([&] { decoder.open(jpeg); }),
              HasSubstr("the JPEG is progressive and has 8191 x 8191 pixels; at most 33554432"));
}

TEST(JpegDecoder, SurvivesDamageAnywhere) {
  const std::string jpeg = test::wavy_jpeg({.width = 48, .height = 48}, {.progressive = true});
  JpegDecoder decoder(DctMethod::accurate);
  RandomStream random(9);
  int failures = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = jpeg;
    for (int i = 0; i < 3; ++i) {
      damaged[random.below(static_cast<std::uint32_t>(damaged.size()))] =
          static_cast<char>(random.bits());
    }
    try {
      const JpegHeader header = decoder.open(damaged);
      decoder.decode({.x = 0,
                      .y = 0,
                      .width = std::min(header.width, 64),
                      .height = std::min(header.height, 64)});
    } catch (const DataError&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 100);
}

}  // namespace
}  // namespace bench

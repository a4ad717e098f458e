#include "pipeline/formats/jpeg_cutter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <vector>

#include <jpeglib.h>  // needs <cstdio> before it

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/formats/jpeg_rewriter.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The colours of a window, without the byte that has no meaning.
std::vector<std::uint32_t> colors_of(JpegDecoder& decoder, const std::string& jpeg,
                                     const PixelWindow& window) {
  decoder.open(jpeg);
  const RgbxView view = decoder.decode(window);
  std::vector<std::uint32_t> colors;
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      colors.push_back(view.row(y)[x] & 0xFFFFFFU);
    }
  }
  return colors;
}

PixelWindow random_window(const test::Picture& picture, RandomStream& random) {
  const auto below = [&](int end) {
    return static_cast<int>(random.below(static_cast<std::uint32_t>(end)));
  };
  PixelWindow window{.x = below(picture.width), .y = below(picture.height)};
  window.width = 1 + below(picture.width - window.x);
  window.height = 1 + below(picture.height - window.y);
  return window;
}

/// All coefficients of an image, component by component.
std::vector<JCOEF> coefficients_of(const std::string& jpeg) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&info);
  std::vector<JCOEF> all;
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& component = info.comp_info[c];
    for (JDIMENSION row = 0; row < component.height_in_blocks; ++row) {
      JBLOCKARRAY blocks = (*info.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&info),
                                                           arrays[c], row, 1, FALSE);
      for (JDIMENSION column = 0; column < component.width_in_blocks; ++column) {
        all.insert(all.end(), std::begin(blocks[0][column]), std::end(blocks[0][column]));
      }
    }
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return all;
}

std::string seekable_jpeg(const test::Picture& picture, const JpegEncoding& encoding = {}) {
  return rewrite_seekable(test::wavy_jpeg(picture, encoding)).value();
}

/// Every sampling that libjpeg upsamples in its own way.
constexpr std::array<std::pair<int, int>, 6> kSamplings{
    {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}}};

TEST(SeekableJpeg, HasThePixelsOfTheOrdinaryImageInAnyWindow) {
  constexpr int kWindows = 60;
  RandomStream random(3);
  std::int64_t decoded = 0;
  std::int64_t seekable = 0;
  for (const auto& [across, down] : kSamplings) {
    for (int size = 0; size < 14; ++size) {
      const test::Picture picture{.width = 33 + 11 * size,
                                  .height = 101 - 7 * size,
                                  .seed = static_cast<std::uint64_t>(size)};
      const JpegEncoding encoding{.chroma_across = across, .chroma_down = down};
      const std::string ordinary = test::wavy_jpeg(picture, encoding);
      const std::string rewritten = seekable_jpeg(picture, encoding);
      for (const DctMethod dct : {DctMethod::accurate, DctMethod::fast}) {
        JpegDecoder whole(dct);
        JpegDecoder parts(dct);
        for (int i = 0; i < kWindows; ++i) {
          const PixelWindow window = random_window(picture, random);
          ASSERT_EQ(colors_of(parts, rewritten, window), colors_of(whole, ordinary, window))
              << across << "x" << down << ", image " << picture.width << "x" << picture.height
              << ", window " << window.width << "x" << window.height << "+" << window.x << "+"
              << window.y;
        }
        decoded += kWindows;
        seekable += parts.seekable();
        EXPECT_EQ(whole.seekable(), 0);
      }
    }
  }
  EXPECT_EQ(decoded, 10'080);
  EXPECT_GE(seekable, decoded - 10) << "all but windows of the whole image";
}

TEST(SeekableJpeg, DecodesOnlyTheIntervalsOfTheWindow) {
  const std::string jpeg = seekable_jpeg({.width = 512, .height = 512});
  const auto parts = read_seekable(jpeg);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->interval, 2);
  JpegCutter cutter;
  const auto cut =
      cutter.cut(jpeg, *parts, {.x = 200, .y = 300, .width = 32, .height = 32}, /*margin=*/2);
  ASSERT_TRUE(cut.has_value());
  // 32 pixels and the margins touch 2 intervals of 32 pixels and 3 rows of 16.
  EXPECT_EQ(cut->window, (PixelWindow{.x = 8, .y = 12, .width = 32, .height = 32}));
  JpegDecoder decoder(DctMethod::accurate);
  const JpegHeader header = decoder.open(cut->jpeg);
  EXPECT_EQ(header.width, 64);
  EXPECT_EQ(header.height, 48);
  EXPECT_LT(cut->jpeg.size() - parts->scan, (jpeg.size() - parts->scan) / 50);
}

TEST(SeekableJpeg, KeepsCoefficientsAndOtherData) {
  for (const bool progressive : {false, true}) {
    for (const auto& [across, down] : kSamplings) {
      std::string jpeg = test::wavy_jpeg(
          {.width = 77, .height = 61},
          {.chroma_across = across, .chroma_down = down, .progressive = progressive});
      jpeg.insert(2, std::string("\xff\xe1\0\x0a", 4) + "Exif????" + "\xff\xfe" +
                         std::string("\0\x09", 2) + "comment");
      const auto rewritten = rewrite_seekable(jpeg);
      ASSERT_TRUE(rewritten.has_value());
      EXPECT_EQ(coefficients_of(*rewritten), coefficients_of(jpeg));
      EXPECT_THAT(*rewritten, HasSubstr("Exif????"));
      EXPECT_THAT(*rewritten, HasSubstr("comment"));
      EXPECT_TRUE(read_seekable(*rewritten).has_value());
      EXPECT_EQ(rewrite_seekable(*rewritten), rewritten) << "it is seekable already";
    }
  }
}

TEST(SeekableJpeg, IsNotMadeOfGreyInksOrDefects) {
  for (const int components : {1, 4}) {
    EXPECT_FALSE(rewrite_seekable(test::wavy_jpeg({.components = components})).has_value());
  }
  std::string defect = test::wavy_jpeg({.width = 64, .height = 64});
  defect.insert(defect.size() - 2, "more data");
  EXPECT_FALSE(rewrite_seekable(defect).has_value());
  EXPECT_THAT(test::message_of<DataError>([&] { rewrite_seekable(defect.substr(0, 700)); }),
              HasSubstr("cannot read the JPEG: "));
}

TEST(SeekableJpeg, IsNotAnOrdinaryOrAProgressiveOne) {
  EXPECT_FALSE(read_seekable(test::wavy_jpeg({})).has_value());
  EXPECT_FALSE(read_seekable(test::wavy_jpeg({}, {.progressive = true})).has_value());
  EXPECT_FALSE(read_seekable("").has_value());
  const std::string jpeg = seekable_jpeg({});
  const std::size_t scan = read_seekable(jpeg)->scan;
  for (std::size_t length = 0; length < scan; ++length) {
    EXPECT_FALSE(read_seekable(std::string_view(jpeg).substr(0, length)).has_value()) << length;
  }
}

TEST(SeekableJpeg, IsDecodedWholeIfARestartMarkerIsDamaged) {
  const test::Picture picture{.width = 150, .height = 100};
  const std::string jpeg = seekable_jpeg(picture);
  const std::size_t scan = read_seekable(jpeg)->scan;
  const std::size_t third = jpeg.find("\xff\xd2", scan);
  ASSERT_NE(third, std::string::npos);
  std::string renumbered = jpeg;
  renumbered[third + 1] = '\xd5';
  std::string missing = jpeg;
  missing.erase(third, 2);
  std::string doubled = jpeg;
  doubled.insert(third, "\xff\xd2");
  std::string data = jpeg;
  data[third + 1] = '\0';
  const PixelWindow window{.x = 20, .y = 30, .width = 60, .height = 50};
  const PixelWindow everything{.width = picture.width, .height = picture.height};
  for (const std::string& damaged : {renumbered, missing, doubled, data}) {
    JpegDecoder decoder(DctMethod::accurate);
    std::vector<std::uint32_t> part;
    try {
      part = colors_of(decoder, damaged, window);
    } catch (const DataError&) {
      continue;
    }
    EXPECT_EQ(decoder.seekable(), 0);
    const auto whole = colors_of(decoder, damaged, everything);
    std::vector<std::uint32_t> expected;
    for (int y = window.y; y < window.y + window.height; ++y) {
      const auto row = whole.begin() + y * picture.width + window.x;
      expected.insert(expected.end(), row, row + window.width);
    }
    EXPECT_EQ(part, expected);
  }
}

}  // namespace
}  // namespace bench

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

/// Every sampling that libjpeg upsamples in its own way; chroma that is finer than luma; chroma
/// components that differ; equal samplings above 1.
constexpr std::array<std::array<JpegSampling, 3>, 10> kSamplings{{{{{1, 1}, {1, 1}, {1, 1}}},
                                                                  {{{2, 1}, {1, 1}, {1, 1}}},
                                                                  {{{1, 2}, {1, 1}, {1, 1}}},
                                                                  {{{2, 2}, {1, 1}, {1, 1}}},
                                                                  {{{4, 1}, {1, 1}, {1, 1}}},
                                                                  {{{4, 2}, {1, 1}, {1, 1}}},
                                                                  {{{1, 1}, {2, 2}, {2, 2}}},
                                                                  {{{2, 2}, {2, 1}, {1, 2}}},
                                                                  {{{1, 1}, {2, 1}, {1, 1}}},
                                                                  {{{2, 1}, {2, 1}, {2, 1}}}}};

/// Random sizes, and images that are narrower than an MCU.
std::vector<test::Picture> pictures() {
  std::vector<test::Picture> all{{.width = 1, .height = 1},
                                 {.width = 1, .height = 70},
                                 {.width = 70, .height = 1},
                                 {.width = 7, .height = 40}};
  for (int i = 0; i < 14; ++i) {
    all.push_back(
        {.width = 33 + 11 * i, .height = 101 - 7 * i, .seed = static_cast<std::uint64_t>(i)});
  }
  return all;
}

TEST(SeekableJpeg, HasThePixelsOfTheOrdinaryImageInAnyWindow) {
  constexpr int kWindows = 30;
  RandomStream random(3);
  std::int64_t decoded = 0;
  std::int64_t seekable = 0;
  for (std::size_t i = 0; i < kSamplings.size(); ++i) {
    for (const test::Picture& picture : pictures()) {
      const JpegEncoding encoding{.sampling = kSamplings.at(i)};
      const std::string ordinary = test::wavy_jpeg(picture, encoding);
      const std::string rewritten = seekable_jpeg(picture, encoding);
      for (const DctMethod dct : {DctMethod::accurate, DctMethod::fast}) {
        JpegDecoder whole(dct);
        JpegDecoder parts(dct);
        for (int round = 0; round < kWindows; ++round) {
          const PixelWindow window = random_window(picture, random);
          ASSERT_EQ(colors_of(parts, rewritten, window), colors_of(whole, ordinary, window))
              << "sampling " << i << ", image " << picture.width << "x" << picture.height
              << ", window " << window.width << "x" << window.height << "+" << window.x << "+"
              << window.y;
        }
        decoded += kWindows;
        seekable += parts.seekable();
        EXPECT_EQ(whole.seekable(), 0);
      }
    }
  }
  EXPECT_EQ(decoded, 10'800);
  EXPECT_EQ(seekable, decoded);
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
    for (const auto& sampling : kSamplings) {
      std::string jpeg = test::wavy_jpeg({.width = 77, .height = 61},
                                         {.sampling = sampling, .progressive = progressive});
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

TEST(SeekableJpeg, RefusesGreyCmykAndDefectiveImages) {
  for (const int components : {1, 4}) {
    EXPECT_FALSE(rewrite_seekable(test::wavy_jpeg({.components = components})).has_value());
  }
  const std::string jpeg = test::wavy_jpeg({.width = 64, .height = 64});
  std::string longer = jpeg;
  longer.insert(longer.size() - 2, "more data");
  EXPECT_FALSE(rewrite_seekable(longer).has_value());
  EXPECT_FALSE(rewrite_seekable(jpeg.substr(0, jpeg.size() / 2)).has_value());
  EXPECT_FALSE(rewrite_seekable("no JPEG").has_value());
  EXPECT_TRUE(rewrite_seekable(jpeg).has_value());
}

TEST(SeekableJpeg, HasAnIntervalThatDividesARow) {
  const auto interval = [](int mcus) {
    return read_seekable(seekable_jpeg({.width = 16 * mcus, .height = 16}))->interval;
  };
  EXPECT_EQ(interval(32), 2);
  EXPECT_EQ(interval(9), 3);
  EXPECT_EQ(interval(6), 2);
  EXPECT_EQ(interval(31), 1);
}

TEST(SeekableJpeg, IsNeitherOrdinaryNorProgressive) {
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
  int decoded = 0;
  for (const std::string& damaged : {renumbered, missing, doubled, data}) {
    JpegCutter cutter;
    EXPECT_FALSE(cutter.cut(damaged, *read_seekable(damaged), window, 2).has_value());
    JpegDecoder decoder(DctMethod::accurate);
    std::vector<std::uint32_t> part;
    try {
      part = colors_of(decoder, damaged, window);
    } catch (const DataError&) {
      continue;
    }
    ++decoded;
    EXPECT_EQ(decoder.seekable(), 0);
    JpegDecoder other(DctMethod::accurate);
    const auto whole = colors_of(other, damaged, everything);
    std::vector<std::uint32_t> expected;
    for (int y = window.y; y < window.y + window.height; ++y) {
      const auto row = whole.begin() + y * picture.width + window.x;
      expected.insert(expected.end(), row, row + window.width);
    }
    EXPECT_EQ(part, expected);
  }
  EXPECT_EQ(decoded, 1) << "libjpeg decodes the renumbered one";
}

}  // namespace
}  // namespace bench

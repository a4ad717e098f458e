#include "pipeline/stages/image_preprocessor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "pipeline/test/support.h"

namespace bench {
namespace {

std::vector<float> preprocess(const PreprocessOptions& options, const std::string& jpeg,
                              std::uint64_t seed = 1, std::uint64_t position = 0) {
  ImagePreprocessor preprocessor(options);
  preprocessor.decode(jpeg, {}, RandomStream(seed), position);
  std::vector<float> out(
      static_cast<std::size_t>(3 * options.output.width * options.output.height));
  preprocessor.pack(out.data());
  return out;
}

/// The pixel value before normalisation.
float pixel_of(float normalised) { return (normalised + 1.0F) * 127.5F; }

/// The decoded image as normalised floats in NHWC: the result of cropping to the whole image.
std::vector<float> whole_image(const std::string& jpeg, ImageSize size, DctMethod dct) {
  return preprocess({.output = size,
                     .layout = SlotLayout::nhwc,
                     .training = false,
                     .method = ResizeMethod::crop,
                     .dct = dct},
                    jpeg);
}

TEST(Evaluation, LeavesAConstantImageExactlyUnchanged) {
  const std::vector<ImageSize> images = {{10, 10}, {300, 200}, {150, 3}, {2, 150}, {64, 64}};
  const std::vector<ImageSize> outputs = {{224, 224}, {100, 30}, {7, 50}, {1, 1}};
  for (const ImageSize image : images) {
    const std::string jpeg = test::flat_jpeg(image.width, image.height, 200);
    const float value = whole_image(jpeg, {.width = 1, .height = 1}, DctMethod::fast).front();
    EXPECT_NEAR(pixel_of(value), 200, 1);
    for (const ImageSize output : outputs) {
      for (const ResizeMethod method : {ResizeMethod::bilinear, ResizeMethod::nearest}) {
        const auto out = preprocess(
            {.output = output, .training = false, .method = method, .dct = DctMethod::fast}, jpeg);
        EXPECT_TRUE(std::all_of(out.begin(), out.end(), [&](float x) { return x == value; }))
            << image.width << "x" << image.height << " to " << output.width << "x" << output.height;
      }
    }
  }
}

TEST(Evaluation, EqualsTheScalarReferenceOnTheFullyDecodedImage) {
  const ImageSize image{.width = 83, .height = 61};
  const ImageSize output{.width = 32, .height = 40};
  const std::string jpeg = test::wavy_jpeg({.width = image.width, .height = image.height});
  const auto source = whole_image(jpeg, image, DctMethod::fast);
  // Each section is computed as in the original, in f32.
  const float ratio = std::max(40.0F / 61.0F, 32.0F / 83.0F);
  const int resized_height = static_cast<int>(61.0F * ratio * 1.145F);
  const int resized_width = static_cast<int>(83.0F * ratio * 1.145F);
  EXPECT_EQ(resized_height, 45);
  const int top = (resized_height - 40) / 2;
  const int left = (resized_width - 32) / 2;
  const auto out = preprocess({.output = output,
                               .layout = SlotLayout::nhwc,
                               .training = false,
                               .method = ResizeMethod::bilinear,
                               .dct = DctMethod::fast},
                              jpeg);
  const auto at = [&](int y, int x, int c) {
    const auto place = static_cast<std::size_t>((std::min(y, 60) * 83 + std::min(x, 82)) * 3 + c);
    return pixel_of(source[place]);
  };
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 32; ++x) {
      for (int c = 0; c < 3; ++c) {
        const float in_y =
            static_cast<float>(y + top) * (61.0F / static_cast<float>(resized_height));
        const float in_x =
            static_cast<float>(x + left) * (83.0F / static_cast<float>(resized_width));
        const int y0 = static_cast<int>(in_y);
        const int x0 = static_cast<int>(in_x);
        const float part_x = in_x - static_cast<float>(x0);
        const float part_y = in_y - static_cast<float>(y0);
        const float upper = at(y0, x0, c) * (1 - part_x) + at(y0, x0 + 1, c) * part_x;
        const float lower = at(y0 + 1, x0, c) * (1 - part_x) + at(y0 + 1, x0 + 1, c) * part_x;
        const float expected = upper * (1 - part_y) + lower * part_y;
        ASSERT_NEAR(pixel_of(out[static_cast<std::size_t>((y * 32 + x) * 3 + c)]), expected, 1e-3);
      }
    }
  }
}

TEST(Training, KeepsWhiteWhiteAndBlackBlack) {
  const std::vector<ImageSize> outputs = {{100, 100}, {150, 10}, {10, 150}};
  for (const int value : {0, 255}) {
    const std::string jpeg = test::flat_jpeg(120, 90, static_cast<std::uint8_t>(value));
    for (const ImageSize output : outputs) {
      for (const ResizeMethod method :
           {ResizeMethod::bilinear, ResizeMethod::nearest, ResizeMethod::crop}) {
        for (const DctMethod dct : {DctMethod::accurate, DctMethod::fast}) {
          if (method == ResizeMethod::crop && (output.width > 120 || output.height > 90)) {
            continue;  // padded with black
          }
          const auto out = preprocess({.output = output, .method = method, .dct = dct}, jpeg);
          for (const float x : out) {
            ASSERT_NEAR(pixel_of(x), value, 50);
          }
        }
      }
    }
  }
}

TEST(Torchvision, ResizesTheShorterSideAndNormalisesTheCentre) {
  const ImageSize image{.width = 121, .height = 93};
  const std::string jpeg = test::wavy_jpeg({.width = image.width, .height = image.height});
  PreprocessOptions options{.output = {.width = 28, .height = 28},
                            .layout = SlotLayout::nhwc,
                            .training = false,
                            .preprocessor = Preprocessor::torchvision,
                            .dct = DctMethod::accurate};
  JpegDecoder decoder(DctMethod::accurate);
  decoder.open(jpeg);
  const RgbxView whole = decoder.decode({.x = 0, .y = 0, .width = 121, .height = 93});
  for (const ResizeFilter filter : {ResizeFilter::triangle, ResizeFilter::cubic}) {
    // 28 * 256 / 224 = 32 pixels high and 32 * 121 / 93 = 41.6, cut to 41, wide. The centre begins
    // at 6.5, rounded to the even 6, and at 2.
    AntialiasedResizer resizer;
    const auto pixels = resizer.run(
        whole, antialiased_taps({.from = 121, .to = 41, .begin = 6, .count = 28}, filter),
        antialiased_taps({.from = 93, .to = 32, .begin = 2, .count = 28}, filter));
    constexpr std::array kMeans{0.485F, 0.456F, 0.406F};
    constexpr std::array kDeviations{0.229F, 0.224F, 0.225F};
    std::vector<float> expected;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      expected.push_back((static_cast<float>(pixels[i]) / 255.0F - kMeans.at(i % 3)) /
                         kDeviations.at(i % 3));
    }
    options.preprocessor = filter == ResizeFilter::cubic ? Preprocessor::torchvision_bicubic
                                                         : Preprocessor::torchvision;
    options.layout = SlotLayout::nhwc;
    EXPECT_EQ(preprocess(options, jpeg), expected);
    options.layout = SlotLayout::nchw;
    const auto planes = preprocess(options, jpeg);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(planes[i % 3 * 28 * 28 + i / 3], expected[i]) << i;
    }
    options.fused = false;
    EXPECT_EQ(preprocess(options, jpeg), planes);
    options.fused = true;
  }
}

TEST(Training, DependsOnTheRandomNumbersAlone) {
  const std::string jpeg = test::wavy_jpeg({.width = 120, .height = 90});
  const PreprocessOptions options{.output = {.width = 30, .height = 20}};
  const auto once = preprocess(options, jpeg, 3);
  EXPECT_EQ(preprocess(options, jpeg, 3), once);
  EXPECT_NE(preprocess(options, jpeg, 4), once);
}

TEST(Training, GivesTheSamePixelsFromTheWholeImage) {
  const std::string jpeg = test::wavy_jpeg({.width = 121, .height = 93});
  for (const ResizeMethod method : {ResizeMethod::bilinear, ResizeMethod::crop}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      PreprocessOptions options{.output = {.width = 30, .height = 20}, .method = method};
      const auto fused = preprocess(options, jpeg, seed);
      options.fused = false;
      EXPECT_EQ(preprocess(options, jpeg, seed), fused);
    }
  }
}

/// Expects equal pixel values, but for rounding.
void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(pixel_of(a[i]), pixel_of(b[i]), 1e-3) << "at " << i;
  }
}

TEST(RoundRobin, UsesTheMethodsInTurn) {
  const std::string jpeg = test::wavy_jpeg({.width = 121, .height = 93});
  constexpr std::array kMethods{ResizeMethod::nearest, ResizeMethod::bilinear,
                                ResizeMethod::bicubic, ResizeMethod::area};
  for (const bool training : {true, false}) {
    for (std::uint64_t position = 0; position < 8; ++position) {
      PreprocessOptions options{.output = {.width = 40, .height = 30},
                                .training = training,
                                .method = ResizeMethod::round_robin};
      const auto in_turn = preprocess(options, jpeg, 5, position);
      options.method = kMethods.at(position % 4);
      expect_near(in_turn, preprocess(options, jpeg, 5));
      options.method = kMethods.at((position + 1) % 4);
      EXPECT_NE(in_turn, preprocess(options, jpeg, 5));
    }
  }
}

TEST(RoundRobin, GivesTheSamePixelsFromTheWholeImage) {
  const std::string jpeg = test::wavy_jpeg({.width = 121, .height = 93});
  for (std::uint64_t position = 0; position < 4; ++position) {
    PreprocessOptions options{.output = {.width = 30, .height = 20},
                              .training = false,
                              .method = ResizeMethod::round_robin};
    const auto fused = preprocess(options, jpeg, 1, position);
    options.fused = false;
    EXPECT_EQ(preprocess(options, jpeg, 1, position), fused);
  }
}

TEST(Means, AreSubtractedFromPixelValues) {
  const std::string jpeg = test::wavy_jpeg({.width = 60, .height = 45});
  PreprocessOptions options{.output = {.width = 32, .height = 24}, .layout = SlotLayout::nchw};
  const auto symmetric = preprocess(options, jpeg);
  options.scaling = kImagenetMeans;
  const auto values = preprocess(options, jpeg);
  constexpr std::array kMeans{123.68F, 116.78F, 103.94F};
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i] + kMeans.at(i / (32 * 24)), pixel_of(symmetric[i]), 1e-3);
  }
  options.layout = SlotLayout::nhwc;
  EXPECT_EQ(preprocess(options, jpeg)[5], values[2 * 32 * 24 + 1]);
}

TEST(Deviations, DivideTheDifferencesFromTheMeans) {
  const std::string jpeg = test::wavy_jpeg({.width = 60, .height = 45});
  PreprocessOptions options{.output = {.width = 32, .height = 24}, .layout = SlotLayout::nchw};
  const auto symmetric = preprocess(options, jpeg);
  options.scaling = {{{.mean = 120, .deviation = 58}, {.mean = 110, .deviation = 57}, {}}};
  const auto values = preprocess(options, jpeg);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Normalization& scaling = options.scaling.at(i / (32 * 24));
    ASSERT_NEAR(values[i] * scaling.deviation + scaling.mean, pixel_of(symmetric[i]), 1e-3);
  }
}

TEST(Distortions, ChangeColorsInTrainingAlone) {
  const std::string jpeg = test::wavy_jpeg({.width = 60, .height = 45});
  PreprocessOptions options{.output = {.width = 32, .height = 24}};
  const auto plain = preprocess(options, jpeg);
  options.distort_colors = true;
  const auto even = preprocess(options, jpeg, 1, 0);
  EXPECT_NE(even, plain);
  EXPECT_EQ(preprocess(options, jpeg, 1, 2), even);
  EXPECT_NE(preprocess(options, jpeg, 1, 1), even) << "contrast precedes hue and saturation";
  options.distort_in_yiq = false;
  EXPECT_NE(preprocess(options, jpeg, 1, 0), even);
  for (const float value : even) {
    EXPECT_TRUE(value >= -1 && value <= 1);
  }
  options.training = false;
  const auto evaluated = preprocess(options, jpeg);
  options.distort_colors = false;
  EXPECT_EQ(evaluated, preprocess(options, jpeg));
}

TEST(Official, ResizesTheShorterSideTo256InEvaluation) {
  // 512 x 300 becomes 436 x 256, of which the columns 212 to 223 and the rows 123 to 132 are used.
  const std::string jpeg = test::wavy_jpeg({.width = 512, .height = 300});
  const ImageSize output{.width = 12, .height = 10};
  const auto source = whole_image(jpeg, {.width = 512, .height = 300}, DctMethod::fast);
  const auto out = preprocess({.output = output,
                               .layout = SlotLayout::nhwc,
                               .training = false,
                               .preprocessor = Preprocessor::official},
                              jpeg);
  constexpr double kRedMean = 123.68;
  const auto red = [&](int y, int x) {
    return static_cast<double>(pixel_of(source[static_cast<std::size_t>((y * 512 + x) * 3)]));
  };
  for (int y = 0; y < output.height; ++y) {
    for (int x = 0; x < output.width; ++x) {
      const double in_x = (212 + x) * 512.0 / 436;
      const double in_y = (123 + y) * 300.0 / 256;
      const int x0 = static_cast<int>(in_x);
      const int y0 = static_cast<int>(in_y);
      const double upper = std::lerp(red(y0, x0), red(y0, x0 + 1), in_x - x0);
      const double lower = std::lerp(red(y0 + 1, x0), red(y0 + 1, x0 + 1), in_x - x0);
      ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>((y * 12 + x) * 3)]),
                  std::lerp(upper, lower, in_y - y0) - kRedMean, 2e-3);
    }
  }
}

TEST(Crop, TakesAWindowAndFlipsHalfOfThem) {
  const ImageSize image{.width = 12, .height = 9};
  const ImageSize output{.width = 8, .height = 8};
  const std::string jpeg = test::wavy_jpeg({.width = image.width, .height = image.height});
  const auto source = whole_image(jpeg, image, DctMethod::fast);
  int flips = 0;
  constexpr int kRounds = 400;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    const auto out = preprocess(
        {.output = output, .layout = SlotLayout::nhwc, .method = ResizeMethod::crop}, jpeg, seed);
    int matches = 0;
    for (int top = 0; top <= 1; ++top) {
      for (int left = 0; left <= 4; ++left) {
        for (const bool flip : {false, true}) {
          bool same = true;
          for (int y = 0; y < 8; ++y) {
            for (int x = 0; x < 8; ++x) {
              for (int c = 0; c < 3; ++c) {
                const int column = left + (flip ? 7 - x : x);
                same &= out[static_cast<std::size_t>((y * 8 + x) * 3 + c)] ==
                        source[static_cast<std::size_t>(((top + y) * 12 + column) * 3 + c)];
              }
            }
          }
          matches += same ? 1 : 0;
          flips += same && flip ? 1 : 0;
        }
      }
    }
    ASSERT_EQ(matches, 1) << "seed " << seed;
  }
  EXPECT_NEAR(flips, kRounds / 2, 50);  // five standard deviations
}

TEST(Crop, PadsSmallImagesWithBlackAroundTheCentre) {
  const std::string jpeg = test::flat_jpeg(3, 4, 255);
  for (const bool training : {true, false}) {
    const auto out = preprocess({.output = {.width = 8, .height = 7},
                                 .layout = SlotLayout::nchw,
                                 .training = training,
                                 .method = ResizeMethod::crop},
                                jpeg, 1);
    constexpr float kWhite = 255.0F * (1.0F / 127.5F) - 1.0F;
    // Left (8 - 3) / 2 = 2, top (7 - 4) / 2 = 1; mirrored, left is 3.
    int white = 0;
    for (int y = 0; y < 7; ++y) {
      for (int x = 0; x < 8; ++x) {
        const float value = out[static_cast<std::size_t>(y * 8 + x)];
        const bool inside_y = y >= 1 && y < 5;
        if (inside_y && x >= 3 && x < 5) {
          EXPECT_EQ(value, kWhite);
        } else if (!inside_y || x < 2 || x > 5) {
          EXPECT_EQ(value, -1.0F);
        }
        white += value == kWhite ? 1 : 0;
      }
    }
    EXPECT_EQ(white, 12);
  }
}

}  // namespace
}  // namespace bench

#include <gtest/gtest.h>

#include <cmath>

#include "results/page/markup.h"
#include "results/page/svg.h"

namespace bench::results {
namespace {

TEST(Scale, TicksAreRoundInsideAndHaveRoom) {
  for (const auto& [low, high] :
       {std::pair{0.0, 1.0}, {97.3, 97.9}, {1e-7, 3e-7}, {5.0, 812345.0}}) {
    const Scale scale = Scale::linear(low, high, 0, 300);
    const auto ticks = scale.ticks();
    EXPECT_GE(ticks.size(), 1U) << low;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      EXPECT_GT(scale.at(ticks[i].value) - scale.at(ticks[i - 1].value),
                label_width(ticks[i].label));
    }
  }
  const Scale ratios = Scale::logarithmic(0.3, 1.9, 0, 200);
  bool has_one = false;
  for (const auto& tick : ratios.ticks()) has_one = has_one || tick.value == 1;
  EXPECT_TRUE(has_one);
  EXPECT_GE(Scale::logarithmic(0.98, 1.02, 0, 300).ticks().size(), 3U);
}

TEST(Scale, TicksAreLabelledAsFineAsTheyAre) {
  for (const auto& [low, high] : {std::pair{0.0121, 0.0125}, {53990.2, 53990.9}, {1e-7, 3e-7}}) {
    const auto ticks = Scale::linear(low, high, 150, 0).ticks(Scale::Labels::kStacked);
    EXPECT_GE(ticks.size(), 3U) << low;
    for (const auto& tick : ticks) {
      EXPECT_NEAR(std::stod(tick.label), tick.value, (high - low) / 1000) << tick.label;
    }
  }
}

TEST(Labels, AreCutBetweenLetters) {
  EXPECT_EQ(fitted_label("short", 100), "short");
  EXPECT_EQ(fitted_label("a long label", label_width("123456")), "a l…el");
  const std::string cut = fitted_label("ééééééééé", label_width("12345"));
  EXPECT_EQ(html_text(cut), cut);  // Still UTF-8.
}

TEST(Numbers, AreShortAndRatiosHaveOneUnit) {
  EXPECT_EQ(short_number(1234567.4), "1,234,567");
  EXPECT_EQ(short_number(999.4), "999");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(0.001234), "0.00123");
  EXPECT_EQ(coordinate(1.5), "1.5");
  EXPECT_EQ(coordinate(-0.001), "0");
  const RatioText ratio =
      ratio_text(std::log(1.031), stats::Interval{std::log(0.99), std::log(2.5)});
  EXPECT_EQ(ratio.ratio, "1.03×");
  EXPECT_EQ(ratio.interval, "[0.99×, 2.50×]");
  EXPECT_EQ(ratio_text(-0.0001, std::nullopt).ratio, "1.00×");
  EXPECT_EQ(ratio_text(std::log(0.02), std::nullopt).ratio, "0.02×");
}

}  // namespace
}  // namespace bench::results

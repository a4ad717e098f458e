#include "results/page/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "models/base/errors.h"
#include "results/page/markup.h"

namespace bench::results {
namespace {

constexpr double kLetterWidth =
    7;  // For a sans-serif of 11 units: the width of digits in DejaVu, a wide font.
constexpr double kTickGap = 10;
constexpr double kStackedTicks = 20;  ///< Distance from one label to the one above it.

/// The end of the character at or before `size`, not inside a multi-byte character.
std::size_t whole_letters(std::string_view text, std::size_t size) {
  while (size > 0 && size < text.size() &&
         (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) {
    --size;
  }
  return std::min(size, text.size());
}

/// With enough decimals to distinguish ticks that are `step` apart.
std::string tick_label(double value, double step) {
  if (std::abs(value) >= 1000 && step >= 1) return short_number(value);
  const double digits = std::clamp(std::ceil(-std::log10(step) - 1e-9), 0.0, 12.0);
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), value);
  return {text.data(), static_cast<std::size_t>(size)};
}

/// About six multiples of 1, 2 or 5 times a power of 10.
std::vector<Scale::Tick> round_ticks(double low, double high) {
  const double rough = (high - low) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power > 5   ? 10
                               : rough / power > 2 ? 5
                               : rough / power > 1 ? 2
                                                   : 1);
  std::vector<Scale::Tick> ticks;
  for (double value = std::ceil(low / step) * step; value <= high + step * 1e-9; value += step) {
    const double clean = std::abs(value) < step * 1e-9 ? 0 : value;
    ticks.push_back({clean, tick_label(clean, step)});
  }
  return ticks;
}

}  // namespace

double label_width(std::string_view text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return kLetterWidth * static_cast<double>(letters);
}

std::string fitted_label(std::string_view text, double width) {
  if (label_width(text) <= width) return std::string(text);
  // The part that distinguishes workloads of one network is at the end.
  const auto room = static_cast<std::size_t>(std::max(1.0, width / kLetterWidth - 1));
  const std::size_t end = room / 2;
  const std::size_t rest = whole_letters(text, text.size() - end);
  return fmt::format("{}…{}", text.substr(0, whole_letters(text, room - end)), text.substr(rest));
}

Scale Scale::linear(double low, double high, double from, double to) {
  Scale scale;
  scale.low_ = low;
  scale.high_ = high > low ? high : low + 1;
  scale.from_ = from;
  scale.to_ = to;
  return scale;
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
  Scale scale = linear(std::log(low), std::log(high), from, to);
  scale.logarithmic_ = true;
  return scale;
}

double Scale::at(double value) const {
  const double place = ((logarithmic_ ? std::log(value) : value) - low_) / (high_ - low_);
  return from_ + std::clamp(place, 0.0, 1.0) * (to_ - from_);
}

std::vector<Scale::Tick> Scale::ticks(Labels labels) const {
  if (!logarithmic_) return with_room(round_ticks(low_, high_), 0, labels);
  if (high_ - low_ < std::log(2.0)) {
    return with_room(round_ticks(std::exp(low_), std::exp(high_)), 1, labels);
  }
  constexpr std::array kSteps = {1.0, 2.0, 5.0};
  constexpr std::array kFineSteps = {1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0};
  const bool fine = high_ - low_ < std::log(8.0);
  const auto first = static_cast<int>(std::floor(low_ / std::log(10.0)));
  const auto last = static_cast<int>(std::ceil(high_ / std::log(10.0)));
  std::vector<Tick> ticks;
  for (int power = first; power <= last; ++power) {
    const auto add = [&](double step) {
      const double value = step * std::pow(10.0, power);
      const double place = std::log(value);
      if (place >= low_ - 1e-9 && place <= high_ + 1e-9) {
        ticks.push_back({value, coordinate(value)});
      }
    };
    if (fine) {
      std::for_each(kFineSteps.begin(), kFineSteps.end(), add);
    } else {
      std::for_each(kSteps.begin(), kSteps.end(), add);
    }
  }
  return with_room(ticks, 1, labels);
}

std::vector<Scale::Tick> Scale::with_room(std::vector<Tick> ticks, double kept,
                                          Labels labels) const {
  const auto crowded = [&] {
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      const double room =
          labels == Labels::kStacked
              ? kStackedTicks
              : (label_width(ticks[i - 1].label) + label_width(ticks[i].label)) / 2 + kTickGap;
      if (std::abs(at(ticks[i].value) - at(ticks[i - 1].value)) < room) return true;
    }
    return false;
  };
  while (ticks.size() > 1 && crowded()) {
    std::size_t parity = 0;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      if (std::abs(ticks[i].value - kept) < 1e-12) parity = i % 2;
    }
    std::vector<Tick> fewer;
    for (std::size_t i = parity; i < ticks.size(); i += 2) fewer.push_back(ticks[i]);
    ticks = std::move(fewer);
  }
  return ticks;
}

Drawing::Drawing(double height, std::string_view title, std::string_view description)
    : height_(height), title_(title), description_(description) {}

void Drawing::line(double x1, double y1, double x2, double y2, const char* style) {
  body_ += fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", style,
                       coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
}

void Drawing::dot(double x, double y, double radius, const char* style, std::string_view hover) {
  body_ +=
      fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title></circle>\n",
                  style, coordinate(x), coordinate(y), coordinate(radius), html_text(hover));
}

void Drawing::box(double x1, double y1, double x2, double y2, const char* style) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", style,
                       coordinate(std::min(x1, x2)), coordinate(std::min(y1, y2)),
                       coordinate(std::abs(x2 - x1)), coordinate(std::abs(y2 - y1)));
}

void Drawing::polyline(const std::vector<std::pair<double, double>>& points, const char* style) {
  std::string list;
  for (const auto& [x, y] : points) {
    if (!list.empty()) list += " ";
    list += fmt::format("{},{}", coordinate(x), coordinate(y));
  }
  body_ += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", style, list);
}

void Drawing::text(double x, double y, std::string_view text, Anchor anchor, const char* style) {
  const char* where = anchor == Anchor::kStart    ? "start"
                      : anchor == Anchor::kMiddle ? "middle"
                                                  : "end";
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", style,
                       coordinate(x), coordinate(y), where, html_text(text));
}

void Drawing::x_axis(const Scale& scale, const std::vector<Scale::Tick>& ticks, double top,
                     double bottom) {
  for (const Scale::Tick& tick : ticks) {
    const double x = scale.at(tick.value);
    line(x, top, x, bottom, "grid");
    const double half = label_width(tick.label) / 2;
    text(std::clamp(x, half, kDrawingWidth - half), bottom + 14, tick.label, Anchor::kMiddle,
         "tick");
  }
}

std::string Drawing::html(std::string_view id) const {
  return fmt::format(
      "<svg role=\"img\" aria-labelledby=\"{0}-t {0}-d\" viewBox=\"0 0 {1} {2}\">\n"
      "<title id=\"{0}-t\">{3}</title>\n<desc id=\"{0}-d\">{4}</desc>\n{5}</svg>\n",
      id, coordinate(kDrawingWidth), coordinate(height_), html_text(title_),
      html_text(description_), body_);
}

}  // namespace bench::results

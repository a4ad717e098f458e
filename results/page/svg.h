#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Drawings: an SVG element with a text alternative, and the scales that place its parts. Colours
/// come from the page's style by class, so that both colour schemes and print differ.
namespace bench::results {

/// Width of a drawing in its own units. The page scales it to the available width, up to 1.5 times.
/// It is narrow enough that text stays readable on a telephone.
inline constexpr double kDrawingWidth = 380;

/// An upper estimate of the width of `text` in label size, in units of a drawing.
double label_width(std::string_view text);

/// `text`, with an ellipsis in the middle if it is wider than `width`.
std::string fitted_label(std::string_view text, double width);

/// Maps values between `low` and `high` to `from` ... `to` of the drawing.
class Scale {
 public:
  static Scale linear(double low, double high, double from, double to);
  /// For values above 0.
  static Scale logarithmic(double low, double high, double from, double to);

  [[nodiscard]] double at(double value) const;

  struct Tick {
    double value = 0;
    std::string label{};
  };
  enum class Labels { kSideBySide, kStacked };
  /// Round values, as many as fit with their labels.
  [[nodiscard]] std::vector<Tick> ticks(Labels labels = Labels::kSideBySide) const;
  /// Drops every second one of `ticks` until the labels fit. The tick at `kept` always stays.
  [[nodiscard]] std::vector<Tick> with_room(std::vector<Tick> ticks, double kept,
                                            Labels labels = Labels::kSideBySide) const;

 private:
  double low_ = 0;
  double high_ = 1;
  double from_ = 0;
  double to_ = 1;
  bool logarithmic_ = false;
};

enum class Anchor { kStart, kMiddle, kEnd };

/// One drawing.
class Drawing {
 public:
  /// `title` says what it shows, `description` what a reader needs who cannot see it.
  Drawing(double height, std::string_view title, std::string_view description);

  void line(double x1, double y1, double x2, double y2, const char* style);
  void dot(double x, double y, double radius, const char* style, std::string_view hover);
  /// A rectangle between two corners.
  void box(double x1, double y1, double x2, double y2, const char* style);
  void polyline(const std::vector<std::pair<double, double>>& points, const char* style);
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::kStart,
            const char* style = "");
  /// Ticks of a scale along x, with lines from `top` to `bottom` and labels below.
  void x_axis(const Scale& scale, const std::vector<Scale::Tick>& ticks, double top, double bottom);

  /// The whole <svg>; `id` must be unique on the page.
  [[nodiscard]] std::string html(std::string_view id) const;

 private:
  double height_;
  std::string title_;
  std::string description_;
  std::string body_;
};

}  // namespace bench::results

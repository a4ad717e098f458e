#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Drawings: an SVG element with a text alternative, and the scales on which it lies. Colours come
/// from the page's style by class, so that both colour schemes and print have their own.
namespace bench::results {

/// Width of a drawing in its own units; the page shows it as wide as there is room, at most half as
/// wide again. Narrow enough that text stays readable on a telephone.
inline constexpr double kDrawingWidth = 380;

/// A generous width of `text` at the size of labels, in units of a drawing.
double label_width(std::string_view text);

/// `text`, its middle replaced by an ellipsis where it is wider than `width`.
std::string fitted_label(std::string_view text, double width);

/// Values between `low` and `high`, on `from` to `to` of the drawing.
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
  /// Round values, as many as have room for their labels.
  [[nodiscard]] std::vector<Tick> ticks(Labels labels = Labels::kSideBySide) const;
  /// Those of `ticks` that have room, every second one left out until they have; the one at `kept`
  /// stays to the end.
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
  /// `title` is what it shows, `description` what a reader without eyes needs of it.
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

  /// The whole <svg>; `id` must be unlike all others of the page.
  [[nodiscard]] std::string html(std::string_view id) const;

 private:
  double height_;
  std::string title_;
  std::string description_;
  std::string body_;
};

}  // namespace bench::results

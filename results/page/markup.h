#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/stats/interval.h"

/// Text for HTML and SVG.
namespace bench::results {

/// `text` as it stands between tags or in a quoted attribute; bytes that are no UTF-8 and control
/// characters become visible escapes.
std::string html_text(std::string_view text);

/// JSON as it may stand in a <script>: `</` and `<!--` cannot end it.
std::string script_text(std::string_view json);

/// A number for readers: three significant digits below 1000, else whole with commas.
std::string short_number(double value);
/// A coordinate or the like: at most two decimals, no trailing zeros.
std::string coordinate(double value);
/// A ratio given as its logarithm: "+3.1% [+1.0, +5.2]%", or "2.40× [2.10, 2.80]×" where an end of
/// the interval, or the ratio, is at least double or less than half.
struct RatioText {
  std::string ratio{};
  std::string interval{};  ///< Empty where there is none.
};
RatioText ratio_text(double log_ratio, const std::optional<stats::Interval>& interval);

/// One table; headings and cells are HTML already, the caption escaped text without tags.
class HtmlTable {
 public:
  /// Columns of numbers stand to the right, those of `texts` (by index) to the left.
  HtmlTable(std::string caption, const std::vector<std::string>& headings,
            std::vector<std::size_t> texts = {});
  void row(const std::vector<std::string>& cells);
  /// In a frame that scrolls by itself where the page is narrow.
  [[nodiscard]] std::string html() const;

 private:
  [[nodiscard]] bool is_text(std::size_t column) const;

  std::string caption_;
  std::vector<std::size_t> texts_;
  std::string head_;
  std::string body_;
};

}  // namespace bench::results

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/stats/interval.h"

/// Text for HTML and SVG.
namespace bench::results {

/// `text` escaped for use between tags or in a quoted attribute, also in XML. Bytes that are not
/// UTF-8 and control characters become visible escapes.
std::string html_text(std::string_view text);

/// JSON for use in a <script>: `</` and `<!--` cannot end it.
std::string script_text(std::string_view json);

/// A number for readers: three significant digits below 1000, else whole with commas.
std::string short_number(double value);
/// A coordinate or the like: at most two decimals, no trailing zeros.
std::string coordinate(double value);
/// A ratio given as its logarithm: "1.03×" and "[1.01×, 1.05×]".
struct RatioText {
  std::string ratio{};
  std::string interval{};  ///< Empty without an interval.
};
RatioText ratio_text(double log_ratio, const std::optional<stats::Interval>& interval);

/// One table. Headings and cells are already HTML; the caption is escaped text without tags.
class HtmlTable {
 public:
  /// Aligns columns of numbers to the right, and those of `texts` (by index) to the left.
  HtmlTable(std::string caption, const std::vector<std::string>& headings,
            std::vector<std::size_t> texts = {});
  /// On narrow pages, shows each row as a card: its cells are lines that begin with their headings.
  void as_cards() { cards_ = true; }
  void row(const std::vector<std::string>& cells);
  /// The table in a frame that scrolls separately on narrow pages.
  [[nodiscard]] std::string html() const;

 private:
  /// The class attribute of a column of texts; empty for numbers.
  [[nodiscard]] const char* left_class(std::size_t column) const;

  std::string caption_;
  std::vector<std::string> headings_;
  std::vector<std::size_t> texts_;
  bool cards_ = false;
  std::string head_;
  std::string body_;
};

}  // namespace bench::results

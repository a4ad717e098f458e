#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Text for HTML and SVG.
namespace bench::results {

/// `text` as it stands between tags or in a quoted attribute; bytes that are no UTF-8 and control
/// characters become visible escapes.
std::string html_text(std::string_view text);

/// JSON as it may stand in a <script>: `</` and `<!--` cannot end it.
std::string script_text(std::string json);

/// A number for readers: three significant digits below 1000, else whole with commas.
std::string short_number(double value);
/// A coordinate or the like: at most two decimals, no trailing zeros.
std::string coordinate(double value);
/// A relative change as "+3.1%"; a large one as a factor, "2.4x".
std::string change_text(double log_ratio);
/// The same of both ends of an interval.
std::string change_interval_text(double low, double high);

/// One table; cells are HTML already.
class HtmlTable {
 public:
  HtmlTable(std::string caption, std::vector<std::string> headings);
  void row(const std::vector<std::string>& cells);
  /// In a frame that scrolls by itself where the page is narrow.
  [[nodiscard]] std::string html() const;

 private:
  std::string caption_;
  std::string head_;
  std::string body_;
};

}  // namespace bench::results

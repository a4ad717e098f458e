#include "results/page/markup.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench::results {
namespace {

std::string formatted(const char* format, double value) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), format, value);
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string script_text(std::string_view json) {
  std::string out;
  for (const char c : json) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "unknown";
  if (std::abs(value) >= 999.5) {
    std::string digits = formatted("%.0f", std::abs(value));
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
    return value < 0 ? "-" + digits : digits;
  }
  const double size = std::abs(value);
  if (size >= 99.95) return formatted("%.0f", value);
  if (size >= 9.995) return formatted("%.1f", value);
  if (size >= 0.1 || size == 0) return formatted("%.2f", value);
  return formatted("%.3g", value);
}

std::string coordinate(double value) {
  std::string text = formatted("%.2f", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  if (text == "-0") text.erase(0, 1);
  return text;
}

RatioText ratio_text(double log_ratio, const std::optional<stats::Interval>& interval) {
  const auto text = [](double log) { return short_number(std::exp(log)) + "×"; };
  RatioText out{.ratio = text(log_ratio)};
  if (interval) {
    out.interval = fmt::format("[{}, {}]", text(interval->low), text(interval->high));
  }
  return out;
}

HtmlTable::HtmlTable(std::string caption, const std::vector<std::string>& headings,
                     std::vector<std::size_t> texts)
    : caption_(std::move(caption)), headings_(headings), texts_(std::move(texts)) {
  for (std::size_t i = 0; i < headings.size(); ++i) {
    head_ += fmt::format("<th scope=\"col\"{}>{}</th>", left_class(i), headings[i]);
  }
}

const char* HtmlTable::left_class(std::size_t column) const {
  const bool is_text = std::find(texts_.begin(), texts_.end(), column) != texts_.end();
  return is_text ? " class=\"left\"" : "";
}

void HtmlTable::row(const std::vector<std::string>& cells) {
  body_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == 0) {
      body_ += fmt::format("<th scope=\"row\">{}</th>", cells[i]);
      continue;
    }
    const std::string label = cards_ ? fmt::format(" data-label=\"{}\"", headings_[i]) : "";
    body_ += fmt::format("<td{}{}>{}</td>", left_class(i), label, cells[i]);
  }
  body_ += "</tr>\n";
}

std::string HtmlTable::html() const {
  return fmt::format(
      "<p class=\"caption\">{0}</p>\n"
      "<div class=\"wide{3}\" tabindex=\"0\"><table aria-label=\"{0}\">\n"
      "<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody></table></div>\n",
      caption_, head_, body_, cards_ ? " cards" : "");
}

}  // namespace bench::results

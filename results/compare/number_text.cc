#include "results/compare/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "models/base/errors.h"

namespace bench::results {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// Per cent with two decimals for a small number, one for a medium one and none for a large one.
/// Avoids -0.00.
std::string percent_number(double relative) {
  const double size = std::abs(100 * relative);
  if (size < 0.005) return "0.00";
  return fixed(100 * relative, size < 0.095 ? 2 : size < 99.95 ? 1 : 0);
}

std::string percent_text(double relative) { return cat(percent_number(relative), "%"); }

/// The margin as requested: 1%, 0.5%.
std::string margin_text(double relative) { return cat(number_text(100 * relative), "%"); }

std::string signed_number(double relative) {
  const std::string text = percent_number(relative);
  return text.front() == '-' ? text : cat("+", text);
}

void with_thousands(std::string& digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    digits = cat(digits.substr(0, at), ",", digits.substr(at));
  }
}

std::string values_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += cat(text.empty() ? "" : " or ", number_text(value));
  return text.empty() ? "absent" : text;
}

/// The smallest drift in a sequence of runs that is reported.
constexpr double kToldDrift = 0.001;

}  // namespace

std::string number_text(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return cat(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) {
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), "%.4g", value);
    return text.data();
  }
  const int before = size > 0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 1;
  std::string text = fixed(value, std::max(0, 4 - before));
  if (text.find('.') != std::string::npos && value == std::floor(value)) {
    text.erase(text.find('.'));
  }
  with_thousands(text);
  return text;
}

std::string change_text(double relative) { return cat(signed_number(relative), "%"); }

std::string probability_text(double p) {
  if (p < 0.00005) return "<.0001";
  const std::string text = fixed(p, 4);
  return text.front() == '0' ? cat("=", text.substr(1)) : "=1";
}

std::string summary_text(const stats::GroupSummary& summary) {
  const std::string centre = number_text(summary.median);
  if (summary.half) return cat(centre, " ±", percent_text(*summary.half));
  if (summary.n == 1) return centre;
  return cat(centre, " (", number_text(summary.min), "..", number_text(summary.max), ")");
}

std::string shift_text(const ComparisonRow& row) {
  if (!row.shift) return "n/a";
  const std::string change = change_text(stats::relative_change(row.shift->estimate));
  if (!row.shift->interval) return change;
  const stats::Interval ends = stats::relative_change(*row.shift->interval);
  return cat(change, " [", signed_number(ends.low), ",", signed_number(ends.high), "]");
}

std::string verdict_text(const ComparisonRow& row, const CompareOptions& options) {
  if (!row.shift) return "not compared: values of 0 or less";
  const std::string margin = margin_text(options.margin);
  switch (row.verdict) {
    case stats::ChangeVerdict::kRegressed:
      return "REGRESSED";
    case stats::ChangeVerdict::kImproved:
      return "improved";
    case stats::ChangeVerdict::kChanged:
      return "changed";
    case stats::ChangeVerdict::kEquivalent:
      return cat("equivalent (±", margin, ")");
    case stats::ChangeVerdict::kInconclusive:
      break;
  }
  const std::string why = row.uncorrected ? ", among so many rows" : "";
  if (!row.needed) return cat("inconclusive", why);
  const bool nested = row.by == ComparedBy::kNested;
  const auto have =
      static_cast<std::int64_t>(nested ? std::min(row.base_groups.size(), row.other_groups.size())
                                       : std::min(row.base.n, row.other.n));
  if (*row.needed <= have) return cat("inconclusive (the change is near ", margin, ")", why);
  const char* unit = row.by == ComparedBy::kPairs ? " pairs" : nested ? " groups/side" : "/side";
  return cat("inconclusive (need ", *row.needed, unit, " for ", margin, ")", why);
}

std::string geomean_name(const GeomeanRow& row, bool with_metric) {
  return cat("geomean", row.group.empty() ? "" : " of ", row.group, with_metric ? " " : "",
             with_metric ? row.metric : "");
}

std::string geomean_text(const GeomeanRow& row) {
  const std::string change = change_text(stats::relative_change(row.mean.log_ratio));
  if (!row.mean.interval) return change;
  const stats::Interval ends = stats::relative_change(*row.mean.interval);
  return cat(change, " [", signed_number(ends.low), ",", signed_number(ends.high), "]");
}

std::string verdicts_text(std::span<const Comparison> comparisons) {
  std::size_t regressed = 0;
  std::size_t improved = 0;
  std::size_t open = 0;
  std::size_t rows = 0;
  for (const Comparison& comparison : comparisons) {
    for (const ComparisonRow& row : comparison.rows) {
      ++rows;
      regressed += row.verdict == stats::ChangeVerdict::kRegressed ? 1 : 0;
      improved += row.verdict == stats::ChangeVerdict::kImproved ? 1 : 0;
      open += row.verdict == stats::ChangeVerdict::kInconclusive ? 1 : 0;
    }
  }
  return cat(regressed, " regressed, ", improved, " improved, ", open, " inconclusive of ", rows,
             rows == 1 ? " row" : " rows");
}

std::string test_text(const ComparisonRow& row) {
  if (!row.shift) return "";
  return cat("p", probability_text(row.shift->p), " q", probability_text(row.q));
}

std::string exact_text(const ExactDifference& difference) {
  return cat(difference.workload, ": exact metric ", difference.metric,
             " differs: ", values_text(difference.base), " -> ", values_text(difference.other));
}

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const ExactDifference& one : comparison.exact) lines.push_back(exact_text(one));
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.drift || std::abs(*row.drift) < kToldDrift) continue;
    lines.push_back(cat(row.workload, ": ", row.metric, " drifted by ", change_text(*row.drift),
                        " per run, both sides alike"));
  }
  for (const EnvironmentDifference& one : comparison.environment) {
    lines.push_back(cat("differs: ", text_of(one)));
  }
  for (const std::string& note : comparison.base_quality) {
    lines.push_back(cat("quality of ", comparison.base_name, ": ", note));
  }
  for (const std::string& note : comparison.other_quality) {
    lines.push_back(cat("quality of ", comparison.other_name, ": ", note));
  }
  for (const std::string& note : comparison.notes) lines.push_back(cat("note: ", note));
  return lines;
}

std::size_t display_width(std::string_view text) {
  // All bytes except UTF-8 continuation bytes.
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t own = display_width(text);
  const std::string blanks(width > own ? width - own : 0, ' ');
  return right ? cat(blanks, text) : cat(text, blanks);
}

}  // namespace bench::results

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

std::string percent_text(double relative) { return percent_number(relative) + "%"; }

/// The margin as requested: 1%, 0.5%.
std::string margin_text(double relative) { return number_text(100 * relative) + "%"; }

std::string signed_number(double relative) {
  const std::string text = percent_number(relative);
  return text.front() == '-' ? text : "+" + text;
}

void with_thousands(std::string& digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
}

std::string values_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    if (!text.empty()) text += " or ";
    text += number_text(value);
  }
  return text.empty() ? "absent" : text;
}

/// "-3.1% [-3.6,-2.5]"; without an interval, only the change.
std::string estimate_text(double log_ratio, const std::optional<stats::Interval>& interval) {
  const std::string change = change_text(stats::relative_change(log_ratio));
  if (!interval) return change;
  const stats::Interval ends = stats::relative_change(*interval);
  return fmt::format("{} [{},{}]", change, signed_number(ends.low), signed_number(ends.high));
}

/// Smaller drifts per run are not reported.
constexpr double kToldDrift = 0.001;

}  // namespace

std::string number_text(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return fmt::format("{:g}", value);
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

std::string change_text(double relative) { return signed_number(relative) + "%"; }

std::string probability_text(double p) {
  if (p < 0.00005) return "<.0001";
  const std::string text = fixed(p, 4);
  return text.front() == '0' ? "=" + text.substr(1) : "=1";
}

std::string summary_text(const stats::GroupSummary& summary) {
  const std::string centre = number_text(summary.median);
  if (summary.half) return fmt::format("{} ±{}", centre, percent_text(*summary.half));
  if (summary.n == 1) return centre;
  return fmt::format("{} ({}..{})", centre, number_text(summary.min), number_text(summary.max));
}

std::string shift_text(const ComparisonRow& row) {
  if (!row.shift) return "n/a";
  return estimate_text(row.shift->estimate, row.shift->interval);
}

std::string verdict_text(const ComparisonRow& row, const CompareOptions& options) {
  if (!row.shift) return "not compared: a value is 0 or negative";
  const std::string margin = margin_text(options.margin);
  switch (row.verdict) {
    case stats::ChangeVerdict::kRegressed:
      return "REGRESSED";
    case stats::ChangeVerdict::kImproved:
      return "improved";
    case stats::ChangeVerdict::kChanged:
      if (!row.other_hardware) return "changed";
      return row.shift->estimate < 0 ? "lower (other hardware)" : "higher (other hardware)";
    case stats::ChangeVerdict::kEquivalent:
      return fmt::format("equivalent (±{})", margin);
    case stats::ChangeVerdict::kDisturbed:
      return row.by == ComparedBy::kPairs
                 ? "disturbed (one side more than the other: run again on a quiet machine)"
                 : "disturbed (see the quality notes; measure again, or use compare --run on one "
                   "machine)";
    case stats::ChangeVerdict::kInconclusive:
      break;
  }
  const std::string verdict = row.uncorrected ? "inconclusive after correction" : "inconclusive";
  const bool nested = row.by == ComparedBy::kNested;
  const bool paired = row.by == ComparedBy::kPairs;
  if (!row.needed) {
    if (!row.least) return verdict;
    return fmt::format("{} (needs at least {} {})", verdict, *row.least,
                       paired   ? "pairs"
                       : nested ? "groups per side"
                                : "runs per side");
  }
  const auto have =
      static_cast<std::int64_t>(nested ? std::min(row.base_groups.size(), row.other_groups.size())
                                       : std::min(row.base.n, row.other.n));
  if (*row.needed <= have) return fmt::format("{} (change near {})", verdict, margin);
  const char* unit = paired ? " pairs" : nested ? " groups/side" : "/side";
  return fmt::format("{} (need {}{} for {})", verdict, *row.needed, unit, margin);
}

std::string geomean_name(const GeomeanRow& row, bool with_metric) {
  const std::string name = row.group.empty() ? "geomean" : "geomean of " + row.group;
  return with_metric ? fmt::format("{} {}", name, row.metric) : name;
}

std::string geomean_text(const GeomeanRow& row) {
  return estimate_text(row.mean.log_ratio, row.mean.interval);
}

std::string geomean_scope(const GeomeanRow& row) {
  const std::string omitted =
      row.disturbed > 0 ? fmt::format(" ({} disturbed omitted)", row.disturbed) : "";
  return fmt::format("over {} workloads{}", row.workloads, omitted);
}

std::string verdicts_text(std::span<const Comparison> comparisons) {
  std::size_t regressed = 0;
  std::size_t improved = 0;
  std::size_t open = 0;
  std::size_t disturbed = 0;
  std::size_t hardware = 0;
  std::size_t rows = 0;
  for (const Comparison& comparison : comparisons) {
    for (const ComparisonRow& row : comparison.rows) {
      ++rows;
      regressed += row.verdict == stats::ChangeVerdict::kRegressed ? 1 : 0;
      improved += row.verdict == stats::ChangeVerdict::kImproved ? 1 : 0;
      open += row.verdict == stats::ChangeVerdict::kInconclusive ? 1 : 0;
      disturbed += row.verdict == stats::ChangeVerdict::kDisturbed ? 1 : 0;
      hardware += row.verdict == stats::ChangeVerdict::kChanged && row.other_hardware ? 1 : 0;
    }
  }
  const std::string verdicts =
      fmt::format("{} regressed, {} improved, {} inconclusive{}{}", regressed, improved, open,
                  disturbed > 0 ? fmt::format(", {} disturbed", disturbed) : "",
                  hardware > 0 ? fmt::format(", {} on other hardware", hardware) : "");
  return fmt::format("{} of {}", verdicts, rows == 1 ? "1 row" : fmt::format("{} rows", rows));
}

std::string test_text(const ComparisonRow& row) {
  if (!row.shift) return "";
  return fmt::format("p{} q{}", probability_text(row.shift->p), probability_text(row.q));
}

std::string exact_text(const ExactDifference& difference) {
  return fmt::format("{}: exact metric {} differs: {} -> {}", difference.workload,
                     difference.metric, values_text(difference.base),
                     values_text(difference.other));
}

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const ExactDifference& one : comparison.exact) lines.push_back(exact_text(one));
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.drift || std::abs(*row.drift) < kToldDrift) continue;
    lines.push_back(fmt::format("{}: {} drifted by {} per run on both sides", row.workload,
                                row.metric, change_text(*row.drift)));
  }
  for (const EnvironmentDifference& one : comparison.environment) {
    lines.push_back("differs: " + text_of(one));
  }
  for (const std::string& note : comparison.base_quality) {
    lines.push_back(fmt::format("quality of {}: {}", comparison.base_name, note));
  }
  for (const std::string& note : comparison.other_quality) {
    lines.push_back(fmt::format("quality of {}: {}", comparison.other_name, note));
  }
  for (const std::string& note : comparison.notes) lines.push_back("note: " + note);
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
  return right ? fmt::format("{}{}", blanks, text) : fmt::format("{}{}", text, blanks);
}

}  // namespace bench::results

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/compare/comparison.h"

/// Numbers of a comparison as readers see them, the same in every form.
namespace bench::results {

/// Four significant digits, with thousands separators: 212.4, 1,904, 0.01235.
std::string number_text(double value);

/// A relative change in per cent with its sign: -3.1%, +0.04%.
std::string change_text(double relative);

/// Like "p=.0002": four decimals without the leading 0; "<.0001" below that.
std::string probability_text(double p);

/// A side's centre and its accuracy: "212.4 ±0.4%", or "212.4 (210.8..213)" with too few runs for
/// an interval.
std::string summary_text(const stats::GroupSummary& summary);

/// "-3.1% [-3.6,-2.5]"; "n/a" if values are not positive.
std::string shift_text(const ComparisonRow& row);

/// "REGRESSED", "equivalent (±1%)", "inconclusive (need 18/side for 1%)". "inconclusive after
/// correction" if the row would have a clear verdict as the only row. "disturbed (...)", with what
/// to do about it.
std::string verdict_text(const ComparisonRow& row, const CompareOptions& options);

/// "geomean", "geomean of model resnet50"; followed by the metric's name if `with_metric`.
std::string geomean_name(const GeomeanRow& row, bool with_metric);

/// "-0.8% [-1.3,-0.2]".
std::string geomean_text(const GeomeanRow& row);
/// "over 12 workloads", or "over 12 workloads (2 disturbed omitted)".
std::string geomean_scope(const GeomeanRow& row);

/// "2 regressed, 0 improved, 1 inconclusive of 7 rows"; counts disturbed rows if there are any.
std::string verdicts_text(std::span<const Comparison> comparisons);

/// "p=.0002 q=.0006"; empty without a test.
std::string test_text(const ComparisonRow& row);

/// "exact metric loss_hash: 5 -> 6".
std::string exact_text(const ExactDifference& difference);

/// The lines below the table: exact metrics, drift, what differs, quality, notes.
std::vector<std::string> remarks(const Comparison& comparison);

/// The width of `text` on a terminal, if each of its characters has width one.
std::size_t display_width(std::string_view text);

/// `text` padded with blanks to `width`; padded on the left if `right`.
std::string padded(std::string_view text, std::size_t width, bool right = false);

}  // namespace bench::results

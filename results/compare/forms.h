#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "results/compare/comparison.h"

/// The forms in which comparisons are printed.
namespace bench::results {

/// A table for terminals, followed by the remarks.
void print_text(std::ostream& out, std::span<const Comparison> comparisons);

/// GitHub's markdown for a comment, with collapsible details. Longer texts end after 65,536
/// characters with a sentence that says so.
void print_markdown(std::ostream& out, std::span<const Comparison> comparisons);

/// One object, schema bench.compare/2; changes are fractions, such as 0.01 for 1 %.
nlohmann::ordered_json comparisons_json(std::span<const Comparison> comparisons);
void print_json(std::ostream& out, std::span<const Comparison> comparisons);

/// JUnit's XML: a regression is a failure, an inconclusive or disturbed row is skipped.
void print_junit(std::ostream& out, std::span<const Comparison> comparisons);

/// One HTML file that needs no network: table, ratios, every run, what differs.
void print_html(std::ostream& out, std::span<const Comparison> comparisons);

/// `text` for a cell of a markdown table.
std::string markdown_cell(std::string_view text);

}  // namespace bench::results

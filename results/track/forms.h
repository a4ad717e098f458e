#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "results/track/tracking.h"

/// The forms in which tracked series are printed.
namespace bench::results {

/// What happened, in one paragraph: what is new, what is still open, what is not caused by the
/// code.
std::string paragraph(const Tracked& tracked);

/// True if the paragraph reports the change as a new regression or improvement.
bool is_news(const SeriesChange& change);

/// A block per series with something to report (every series if `all`), then the paragraph.
void print_text(std::ostream& out, const Tracked& tracked, bool all);

/// GitHub's markdown: the paragraph, a table of changes, one of series.
void print_markdown(std::ostream& out, const Tracked& tracked);

/// Schema bench.track/2: every run, segment and change; changes as shares.
nlohmann::ordered_json tracked_json(const Tracked& tracked);
void print_json(std::ostream& out, const Tracked& tracked);

/// One HTML file that needs no network: a drawing per series, changes, levels.
void print_html(std::ostream& out, const Tracked& tracked);

/// JUnit's XML, a case per series: a change that fails is a failure, a suspect run or a disturbed
/// change is skipped.
void print_junit(std::ostream& out, const Tracked& tracked);

/// "resnet50 train bs64 f32 on node7, images_per_sec".
std::string title_of(const RunSeries& series);

/// "2026-01-31 -3.1% [-3.6,-2.5] p=.0050 REGRESSED (id 4f2a91c03b), revisions 1a2b3c..9f8e7d".
std::string change_line(const TrackedSeries& tracked, const SeriesChange& change);

/// "2026-02-12 +0.2%, z 0.4 of 3.6: quiet".
std::string newest_line(const TrackedSeries& tracked);

}  // namespace bench::results

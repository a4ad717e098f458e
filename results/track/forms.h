#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "results/track/tracking.h"

/// The forms in which tracked series are printed.
namespace bench::results {

/// The numbers of series, new and known regressions, and improvements, in one sentence.
std::string summary(const Tracked& tracked);

/// One line per change: what is new, what is still open, what is not caused by the code. Also one
/// per suspect or disturbed newest run, and one per reason why newest runs are not judged.
std::vector<std::string> news_lines(const Tracked& tracked);

/// True for a change that still holds, is not acknowledged and is not too old.
bool is_open(const SeriesChange& change);

/// True if the lines report the change as a new regression or improvement.
bool is_news(const SeriesChange& change);

/// A block per series with something to report (every series if `all`), then the lines and the
/// summary.
void print_text(std::ostream& out, const Tracked& tracked, bool all);

/// GitHub's markdown: the summary, the lines, a table of changes, one of series.
void print_markdown(std::ostream& out, const Tracked& tracked);

/// Schema bench.track/3: every run, segment and change; changes as shares.
nlohmann::ordered_json tracked_json(const Tracked& tracked);
void print_json(std::ostream& out, const Tracked& tracked);

/// Schema bench.changes/1: the summary, the lines, and the new regressions and improvements.
nlohmann::ordered_json changes_json(const Tracked& tracked);

/// One HTML file that needs no network: a drawing per series, changes, levels.
void print_html(std::ostream& out, const Tracked& tracked);

/// JUnit's XML, a case per series: a change that fails is a failure. A suspect run, a disturbed
/// change, and a run that cannot be judged yet, is skipped.
void print_junit(std::ostream& out, const Tracked& tracked);

/// "resnet50 train bs64 f32 on node7, images_per_sec".
std::string title_of(const RunSeries& series);

/// "2026-01-31 -3.1% [-3.6,-2.5] p=.0050 REGRESSED (id 4f2a91c03b), revisions 1a2b3c..9f8e7d".
std::string change_line(const TrackedSeries& tracked, const SeriesChange& change);
/// "differs: host.kernel a -> b": the first differences of the environment at the change, and the
/// number of the others.
std::vector<std::string> difference_lines(const SeriesChange& change);

/// "2026-02-12 +0.2%, z 0.4 of 3.6: quiet".
std::string newest_line(const TrackedSeries& tracked);

}  // namespace bench::results

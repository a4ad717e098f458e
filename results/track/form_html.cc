#include "models/base/errors.h"
#include "results/compare/number_text.h"
#include "results/page/html_page.h"
#include "results/page/markup.h"
#include "results/page/plots.h"
#include "results/track/causes.h"
#include "results/track/forms.h"
#include "results/track/series_plot.h"

namespace bench::results {
namespace {

std::string changes_table(const Tracked& tracked) {
  HtmlTable table("Every change, with the differences of the environment",
                  {"series", "change", "differs"}, {1, 2});
  bool any = false;
  for (const TrackedSeries& one : tracked.series) {
    for (const SeriesChange& change : one.changes) {
      any = true;
      const std::string line = html_text(change_line(one, change));
      std::string differs;
      for (const EnvironmentDifference& difference : change.environment) {
        if (!differs.empty()) differs += "<br>";
        differs += html_text(text_of(difference));
      }
      table.row({html_text(title_of(one.series)),
                 change.fails() ? fmt::format("<strong class=\"warn\">{}</strong>", line) : line,
                 differs});
    }
  }
  return any ? table.html() : "<p>No series changed.</p>\n";
}

/// May be empty.
std::string news_list(const Tracked& tracked) {
  std::string html;
  for (const std::string& line : news_lines(tracked)) {
    html += fmt::format("<li>{}</li>\n", html_text(line));
  }
  return html.empty() ? "" : fmt::format("<ul>\n{}</ul>\n", html);
}

std::string levels_cell(const TrackedSeries& one) {
  std::string html;
  for (const Segment& segment : one.segments) {
    if (!html.empty()) html += "<br>";
    html += fmt::format("{}: {}", date_text(one.series.points[segment.begin].start_ms),
                        html_text(summary_text(segment.summary)));
  }
  return html;
}

std::string series_table(const Tracked& tracked) {
  HtmlTable table("Levels: median from that run on, with half of its 95% interval",
                  {"series", "unit", "runs", "noise", "margin", "newest run", "levels"}, {1, 5, 6});
  for (const TrackedSeries& one : tracked.series) {
    table.row({html_text(title_of(one.series)), html_text(one.series.unit),
               std::to_string(one.series.points.size()),
               one.noise ? change_text(*one.noise).substr(1) : "unknown",
               change_text(one.margin).substr(1), html_text(newest_line(one)), levels_cell(one)});
  }
  return table.html();
}

std::string series_plots(const Tracked& tracked) {
  std::string html;
  std::size_t next = 0;
  for (const TrackedSeries& one : tracked.series) {
    html += series_plot(one, fmt::format("series{}", next++));
  }
  return html;
}

/// People's notes, and where workloads continued; may be empty.
std::string notes_list(const Tracked& tracked) {
  std::string html;
  for (const TrackedSeries& one : tracked.series) {
    const std::string title = html_text(title_of(one.series));
    for (const Annotation& annotation : one.annotations) {
      html += fmt::format("<li>{}, run {}: {}</li>\n", title,
                          html_text(annotation.run.substr(0, 10)), html_text(annotation.text));
    }
    if (!one.continues.empty()) {
      html += fmt::format("<li>{}: continues {}</li>\n", title, html_text(one.continues));
    }
  }
  return html.empty() ? "" : fmt::format("<ul>\n{}</ul>\n", html);
}

const char* track_definitions() {
  return "<ul>\n"
         "<li>A point is a run or a group of repeats. With --points=day, it is all runs of one "
         "revision on one day (UTC). Its value is the median.</li>\n"
         "<li>Noise: 1.4826 × median of the distances between successive points / √2, of "
         "logarithms. A change matters if it is at least the noise and --min-effect.</li>\n"
         "<li>Change points: E-divisive with a seeded permutation test, corrected over all series "
         "by Benjamini-Hochberg (q). The size is the Hodges-Lehmann shift of the logarithms, with "
         "its 95% interval.</li>\n"
         "<li>Newest run: z is its distance from the level's median / (1.4826 MAD √(1 + 1/m)). "
         "It is suspect if z is beyond Student's t at 0.1%.</li>\n"
         "<li>Disturbed: too many of the runs next to the change were disturbed, and the quiet "
         "ones do not show it. Disturbed runs far from the median of the 20 runs on either side "
         "are not judged.</li>\n"
         "</ul>\n";
}

}  // namespace

void print_html(std::ostream& out, const Tracked& tracked) {
  HtmlPage page("CNN benchmark tracking");
  page.add("news", "What changed",
           fmt::format("<p><strong>{}</strong></p>\n{}{}", html_text(summary(tracked)),
                       news_list(tracked), changes_table(tracked)));
  page.add(
      "charts", "Over time",
      "<p class=\"soft\">Dots are points. Horizontal lines are levels, in a band of the noise. "
      "Vertical lines are changes. Marks at the bottom are notes. A ring marks a suspect newest "
      "run. Each chart has its own scale, which does not start at 0.</p>\n" +
          figures(series_plots(tracked)));
  page.add("series", "Series", series_table(tracked));
  const std::string notes = notes_list(tracked);
  if (!notes.empty()) page.add("notes", "Notes", notes);
  page.add("definitions", "How the numbers are computed", track_definitions());
  out << page.html(
      tracked_json(tracked).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace bench::results

#include <chrono>
#include <utility>

#include <algorithm>
#include "results/record/identity.h"
#include "results/track/forms.h"

namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;

std::string time_text(std::int64_t ms) {
  return utc_text(std::chrono::system_clock::time_point(std::chrono::milliseconds(ms)));
}

Ordered ends_json(const std::optional<stats::Interval>& interval) {
  if (!interval) return nullptr;
  return Ordered{interval->low, interval->high};
}

Ordered change_json(const TrackedSeries& one, const SeriesChange& change) {
  const std::vector<SeriesPoint>& points = one.series.points;
  Ordered json = {
      {"id", change.id},
      {"point", change.at},
      {"first_bad", time_text(points[change.at].start_ms)},
      {"last_good", time_text(points[change.last_good].start_ms)},
      {"run", points[change.at].run_ids.front()},
      {"git_rev", {points[change.last_good].git_rev, points[change.at].git_rev}},
      {"found_by", name_of(change.by)},
      {"change", stats::relative_change(change.shift.estimate)},
      {"interval", change.shift.interval ? ends_json(stats::relative_change(*change.shift.interval))
                                         : Ordered(nullptr)},
      {"p", change.p},
      {"q", change.q},
      {"verdict", stats::name_of(change.verdict)},
      {"drift", change.drift},
      {"cause", name_of(change.cause)},
      {"state", change.state},
      {"note", change.note},
      {"known", change.known},
      {"recovered", change.recovered},
      {"fails", change.fails()}};
  json["environment"] = Ordered::array();
  for (const EnvironmentDifference& difference : change.environment) {
    json["environment"].push_back(
        {{"field", difference.field}, {"before", difference.base}, {"after", difference.other}});
  }
  return json;
}

Ordered newest_json(const TrackedSeries& one) {
  Ordered json = {{"state", name_of(one.newest_state)}, {"why", one.newest_why}};
  if (one.newest) {
    json["change"] = stats::relative_change(one.newest->log_ratio);
    json["z"] = one.newest->z;
    json["limit"] = one.newest->limit;
  }
  return json;
}

Ordered series_json(const TrackedSeries& one) {
  Ordered json = {{"key", one.series.key},
                  {"workload", one.series.workload},
                  {"machine", one.series.machine},
                  {"metric", one.series.metric},
                  {"unit", one.series.unit},
                  {"canary", one.series.canary},
                  {"noise", one.noise ? Ordered(*one.noise) : Ordered(nullptr)},
                  {"margin", one.margin},
                  {"continues", one.continues}};
  for (const char* list : {"points", "segments", "changes", "annotations"}) {
    json[list] = Ordered::array();
  }
  for (std::size_t i = 0; i < one.series.points.size(); ++i) {
    const SeriesPoint& point = one.series.points[i];
    json["points"].push_back(
        {{"start", time_text(point.start_ms)},
         {"value", point.value},
         {"runs", point.run_ids},
         {"git_rev", point.git_rev},
         {"judged", std::binary_search(one.judged.begin(), one.judged.end(), i)}});
  }
  for (const Segment& segment : one.segments) {
    json["segments"].push_back({{"begin", segment.begin},
                                {"end", segment.end},
                                {"median", segment.summary.median},
                                {"interval", ends_json(segment.summary.interval)}});
  }
  for (const SeriesChange& change : one.changes) {
    json["changes"].push_back(change_json(one, change));
  }
  json["newest"] = newest_json(one);
  for (const Annotation& annotation : one.annotations) {
    json["annotations"].push_back({{"run", annotation.run}, {"text", annotation.text}});
  }
  return json;
}

}  // namespace

Ordered tracked_json(const Tracked& tracked) {
  Ordered json = {
      {"schema", "bench.track/3"},      {"min_effect", tracked.options.margin},
      {"alpha", tracked.options.alpha}, {"trust_disturbed", tracked.options.trust_disturbed},
      {"summary", summary(tracked)},    {"lines", news_lines(tracked)},
      {"series", Ordered::array()}};
  for (const TrackedSeries& one : tracked.series) json["series"].push_back(series_json(one));
  return json;
}

Ordered changes_json(const Tracked& tracked) {
  Ordered json = {{"schema", "bench.changes/1"},
                  {"summary", summary(tracked)},
                  {"lines", news_lines(tracked)},
                  {"changes", Ordered::array()}};
  for (const TrackedSeries& one : tracked.series) {
    for (const SeriesChange& change : one.changes) {
      if (!is_news(change)) continue;
      Ordered row = {{"workload", one.series.workload},
                     {"machine", one.series.machine},
                     {"metric", one.series.metric}};
      row.update(change_json(one, change));
      json["changes"].push_back(std::move(row));
    }
  }
  return json;
}

void print_json(std::ostream& out, const Tracked& tracked) {
  out << tracked_json(tracked).dump(1, ' ', false, Ordered::error_handler_t::replace) << "\n";
}

}  // namespace bench::results

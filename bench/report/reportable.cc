#include "bench/report/reportable.h"

#include "models/base/errors.h"
#include "results/record/quality_score.h"

namespace bench {

std::vector<std::string> violations_before(const results::Source& source,
                                           const results::Build& build,
                                           const RecordSettings& settings) {
  std::vector<std::string> found;
  if (!source.dirty.known()) {
    found.push_back(
        fmt::format("the revision that bench was built from is unknown: {}", source.dirty.why()));
  } else if (source.dirty.value()) {
    found.emplace_back(
        "bench was built from a tree with uncommitted changes, which others cannot build");
  }
  if (build.build_type != "Release" && build.build_type != "RelWithDebInfo") {
    found.push_back(
        build.build_type.empty()
            ? "bench was built without a build type, not with Release or RelWithDebInfo"
            : fmt::format("bench was built with build type {}, not with Release or RelWithDebInfo",
                          build.build_type));
  }
  if (!build.sanitizer.empty()) {
    found.push_back(fmt::format("bench was built with the sanitizer {}", build.sanitizer));
  }
  // In a group that another program makes, the number of runs is unknown here.
  const bool counted = settings.own_repeat || !settings.labels.group_id.known();
  if (counted && settings.repeats.runs < kFewestReportableRuns) {
    found.push_back(fmt::format("too few repeats: {}, but an interval needs {} (--repeats={})",
                                settings.repeats.runs, kFewestReportableRuns,
                                kFewestReportableRuns));
  }
  return found;
}

std::vector<std::string> violations_after(const results::Record& record) {
  std::vector<std::string> found = record.quality.warnings;
  if (const double busy = results::busy_processors(record); busy > results::kToleratedProcessors) {
    found.push_back(fmt::format("other programs kept {:g} processors busy", busy));
  }
  if (record.load.steal_share.value_or(0) > results::kToleratedSteal) {
    found.emplace_back("the hypervisor gave processor time to other machines (steal)");
  }
  if (record.load.throttling.periods.value_or(0) > 0) {
    found.emplace_back("the cgroup throttled the run, because its CPU quota was used up");
  }
  if (record.quality.verdict.known() &&
      record.quality.verdict.value() == results::Verdict::kInvalid) {
    found.emplace_back("the GPU's verdict is INVALID");
  }
  if (record.status != results::Status::kOk || record.partial) {
    found.push_back(fmt::format("the run failed or ended early: {}", record.status_reason));
  } else if (!record.verification.skipped.empty() && !record.quantization) {
    found.push_back(fmt::format("the network was not checked: {}", record.verification.skipped));
  }
  return found;
}

void judge_reportable(results::Record& record, const RecordSettings& settings) {
  if (!settings.reportable) {
    return;
  }
  std::vector<std::string> violations = violations_before(record.source, record.build, settings);
  for (std::string& violation : violations_after(record)) {
    violations.push_back(std::move(violation));
  }
  record.labels.reportable = violations.empty();
  record.labels.violations = std::move(violations);
}

}  // namespace bench

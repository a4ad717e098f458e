#include "bench/report/reportable.h"

#include "models/base/errors.h"

namespace bench {

std::vector<std::string> violations_before(const results::Source& source,
                                           const results::Build& build,
                                           const RecordSettings& settings) {
  std::vector<std::string> found;
  if (!source.dirty.known()) {
    found.push_back(cat("which revision it was built from is not known: ", source.dirty.why()));
  } else if (source.dirty.value()) {
    found.emplace_back("it was built from a changed tree, which nobody else can build");
  }
  if (build.build_type != "Release" && build.build_type != "RelWithDebInfo") {
    found.push_back(cat("it was built for ",
                        build.build_type.empty() ? "no type" : build.build_type,
                        ", not for speed"));
  }
  if (!build.sanitizer.empty()) {
    found.push_back(cat("it was built with the sanitizer ", build.sanitizer));
  }
  // In a group that another program makes, the number of runs is unknown here.
  const bool counted = settings.own_repeat || !settings.labels.group_id.known();
  if (counted && settings.repeats.runs < kFewestReportableRuns) {
    found.push_back(cat("too few repeats: ", settings.repeats.runs, ", and an interval takes ",
                        kFewestReportableRuns, " (--repeats=", kFewestReportableRuns, ")"));
  }
  return found;
}

std::vector<std::string> violations_after(const results::Record& record) {
  constexpr double kHousekeeping = 0.25;
  constexpr double kSteal = 0.01;
  std::vector<std::string> found = record.quality.warnings;
  double busy = 0;
  for (const results::BusyProcess& process : record.load.busy.value_or({})) {
    busy += process.processors;
  }
  if (busy > kHousekeeping) {
    found.push_back(cat("other programs took ", busy, " processors' worth of time"));
  }
  if (record.load.steal_share.value_or(0) > kSteal) {
    found.emplace_back("the hypervisor took processor time for other machines");
  }
  if (record.load.throttling.periods.value_or(0) > 0) {
    found.emplace_back("its control group stopped it for using up its processor time");
  }
  if (record.quality.verdict.known() &&
      record.quality.verdict.value() == results::Verdict::kInvalid) {
    found.emplace_back("the GPU's run was judged INVALID");
  }
  if (record.status != results::Status::kOk || record.partial) {
    found.push_back(cat("it did not end well: ", record.status_reason));
  } else if (!record.verification.skipped.empty() && !record.quantization) {
    found.push_back(cat("its network was not checked: ", record.verification.skipped));
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

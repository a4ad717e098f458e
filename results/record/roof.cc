#include "results/record/roof.h"

#include <string_view>

namespace bench::results {
namespace {

Metric* metric_named(Record& record, std::string_view name) {
  for (Metric& metric : record.metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

}  // namespace

void add_roof(Record& record, const Roof& roof, double step_seconds) {
  record.roof = roof;
  Metric* share = metric_named(record, "roof_share");
  Metric* mfu = metric_named(record, "mfu");
  Metric* bandwidth = metric_named(record, "bandwidth_share");
  if (share == nullptr || mfu == nullptr || bandwidth == nullptr)
    throw InternalError("add_roof() needs the metrics of run_metrics()");
  share->value =
      roof.least_step_seconds.known() && step_seconds > 0
          ? MetricValue(roof.least_step_seconds.value() / step_seconds)
          : MetricValue(Unknown{roof.least_step_seconds.known() ? "no step was completed"
                                                                : roof.least_step_seconds.why()});
  if (!roof.bytes_per_second.known() || !roof.step_bytes.known()) {
    bandwidth->value = Unknown{roof.bytes_per_second.known() ? roof.step_bytes.why()
                                                             : roof.bytes_per_second.why()};
  } else if (step_seconds <= 0) {
    bandwidth->value = Unknown{"no step was completed"};
  } else {
    bandwidth->value = roof.step_bytes.value() / step_seconds / roof.bytes_per_second.value();
  }
  const Workload& workload = record.workload;
  if (!roof.flops_per_second.known()) {
    mfu->value = Unknown{roof.flops_per_second.why()};
  } else if (!workload.flops_per_image.known()) {
    mfu->value = Unknown{workload.flops_per_image.why()};
  } else if (step_seconds <= 0) {
    mfu->value = Unknown{"no step was completed"};
  } else {
    mfu->value = static_cast<double>(workload.flops_per_image.value()) *
                 static_cast<double>(workload.global_batch) / workload.devices / step_seconds /
                 roof.flops_per_second.value();
  }
}

}  // namespace bench::results

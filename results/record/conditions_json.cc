#include "results/record/conditions_json.h"

#include <algorithm>
#include <numeric>

namespace bench::results {
namespace {

void put_samples(Section& out, const std::string& name,
                 const Captured<std::vector<double>>& samples) {
  out.put(name, samples);
  const std::string spread_name = name + "_spread";
  if (!samples.known() || samples.value().empty()) {
    out.put_null(spread_name, samples.known() ? "no sample was taken" : samples.why());
    return;
  }
  const std::vector<double>& values = samples.value();
  Section spread = out.child(spread_name);
  spread.put("mean", std::accumulate(values.begin(), values.end(), 0.0) /
                         static_cast<double>(values.size()));
  spread.put("min", *std::min_element(values.begin(), values.end()));
  spread.put("max", *std::max_element(values.begin(), values.end()));
}

}  // namespace

void put_labels(Section& out, const Labels& labels) {
  out.put("group_id", labels.group_id);
  out.put("repeat_index", labels.repeat_index);
  out.put("order_index", labels.order_index);
  out.put("label", labels.label);
  out.put("tags", labels.tags);
  out.put("reason", labels.reason);
  out.put("reportable", labels.reportable);
  out.put("violations", labels.violations);
}

void put_cost(Section& out, const Captured<Cost>& cost) {
  if (!cost.known()) {
    out.put_null("cost", cost.why());
    return;
  }
  Section section = out.child("cost");
  section.put("currency", cost.value().currency);
  section.put("capex", cost.value().capex);
  section.put("hourly", cost.value().hourly);
  section.put("watts", cost.value().watts);
  section.put("years", cost.value().years);
  section.put("utilization", cost.value().utilization);
  section.put("kwh_price", cost.value().kwh_price);
  section.put("pue", cost.value().pue);
}

void put_energy(Section out, const Energy& energy) {
  out.put("source", energy.source);
  out.put_list("domains", energy.domains, [](Section& item, const EnergyDomain& domain) {
    item.put("name", domain.name);
    item.put("joules", domain.joules);
  });
  out.put("joules", energy.joules);
  out.put("idle_watts", energy.idle_watts);
  out.put("coverage", energy.coverage);
}

void put_storage(Section& out, const Captured<Storage>& storage) {
  if (!storage.known()) {
    out.put_null("storage", storage.why());
    return;
  }
  Section section = out.child("storage");
  section.put("fs", storage.value().filesystem);
  section.put("device", storage.value().device);
  section.put("mount_options", storage.value().mount_options);
  section.put("rotational", storage.value().rotational);
  section.put("scheduler", storage.value().scheduler);
}

void put_busy(Section& out, const Captured<std::vector<BusyProcess>>& busy) {
  if (!busy.known()) {
    out.put_null("busy_processes", busy.why());
    return;
  }
  out.put_list("busy_processes", busy.value(), [](Section& item, const BusyProcess& process) {
    item.put("name", process.name);
    item.put("processors", process.processors);
  });
}

void put_cpu_watched(Section out, const CpuWatched& watched) {
  put_samples(out, "mhz", watched.mhz);
  put_samples(out, "celsius", watched.celsius);
}

void put_throttling(Section out, const Throttling& throttling) {
  out.put("periods", throttling.periods);
  out.put("time_ns", throttling.time);
}

}  // namespace bench::results

#include "results/record/gpu_json.h"

namespace bench::results {
namespace {

/// Fills the member `name` by fill(section, value), or says why it is null.
template <class Value, class Fill>
void put_part(Section& out, const std::string& name, const Captured<Value>& value, Fill fill) {
  if (value.known()) {
    fill(out.child(name), value.value());
  } else {
    out.put_null(name, value.why());
  }
}

void put_clocks(Section out, const GpuClocks& clocks) {
  out.put("sm", clocks.sm);
  out.put("memory", clocks.memory);
  out.put("graphics", clocks.graphics);
}

void put_link(Section out, const GpuLink& link) {
  out.put("generation", link.generation);
  out.put("width", link.width);
  out.put("generation_max", link.generation_max);
  out.put("width_max", link.width_max);
}

void put_spread(Section out, const Spread& spread) {
  out.put("mean", spread.mean);
  out.put("min", spread.min);
  out.put("max", spread.max);
}

void put_clock_events(Section out, const ClockEvents& events) {
  out.put("bits", events.seen());
  Section shares = out.child("shares");
  for (const ClockEvent& event : kClockEvents) {
    if ((events.seen() & event.bit) != 0) {
      shares.put(std::string(event.name), events.share(event.bit));
    }
  }
}

void put_watched(Section out, const GpuWatched& watched) {
  out.put("source", "board sensor, not wall");
  out.put("window_ns", watched.window);
  out.put("samples", watched.samples);
  put_part(out, "sm_mhz", watched.sm_mhz, put_spread);
  put_part(out, "watts", watched.watts, put_spread);
  put_part(out, "celsius", watched.celsius, put_spread);
  put_part(out, "utilization", watched.utilization, put_spread);
  put_part(out, "clock_events", watched.clock_events, put_clock_events);
  out.put("power_violation_ns", watched.power_violation);
  out.put("thermal_violation_ns", watched.thermal_violation);
  out.put("joules", watched.joules);
  out.put("counted_watts", counted_watts(watched));
  out.put("ecc_corrected", watched.ecc_corrected);
  out.put("ecc_uncorrected", watched.ecc_uncorrected);
  out.put("others_count", watched.others_count);
  if (!watched.others.known()) {
    out.put_null("others", watched.others.why());
    return;
  }
  out.put_list("others", watched.others.value(), [](Section& item, const GpuProcess& process) {
    item.put("pid", process.pid);
    item.put("memory", process.memory);
  });
}

void put_gpu(Section& out, const Gpu& gpu) {
  out.put("name", gpu.name);
  out.put("compute_capability", gpu.compute_capability);
  out.put("pci_bus_id", gpu.pci_bus_id);
  out.put("uuid", gpu.uuid);
  out.put("driver", gpu.driver);
  out.put("nvml", gpu.nvml);
  out.put("memory_total", gpu.memory_total);
  out.put("memory_used", gpu.memory_used);
  out.put("ecc", gpu.ecc);
  out.put("persistence", gpu.persistence);
  out.put("mig", gpu.mig);
  put_clocks(out.child("clocks_mhz"), gpu.clocks);
  put_clocks(out.child("clocks_max_mhz"), gpu.clocks_max);
  out.put("power_limit_watts", gpu.power_limit_watts);
  out.put("power_limit_default_watts", gpu.power_limit_default_watts);
  out.put("celsius", gpu.celsius);
  put_link(out.child("pcie"), gpu.pcie);
  out.put("counted_sm_mhz", gpu.counted_sm_mhz);
  put_part(out, "watched", gpu.watched, put_watched);
}

}  // namespace

void put_gpus(Section& out, const std::vector<Gpu>& gpus) { out.put_list("gpu", gpus, put_gpu); }

}  // namespace bench::results

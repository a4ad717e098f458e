#include "results/environment/rapl.h"

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr const char* kFolder = "/sys/class/powercap";

/// Returns true for packages ("intel-rapl:0") and, of their parts ("intel-rapl:0:1"), for memory,
/// which is counted separately. The platform ("psys") contains the packages.
bool counts_by_itself(const std::string& entry, const std::string& name) {
  return entry.starts_with("intel-rapl:") && (name.starts_with("package") || name == "dram");
}

std::string name_of_domain(const std::string& entry, const std::string& name) {
  const std::size_t first = entry.find(':');
  const std::string package = entry.substr(first + 1, entry.find(':', first + 1) - first - 1);
  return name == "dram" ? "dram-" + package : name;
}

}  // namespace

Captured<RaplReading> read_rapl(const SystemFiles& files) {
  const Captured<std::vector<std::string>> entries = files.names_in(kFolder);
  if (!entries.known()) return Unknown{entries.why()};
  RaplReading reading;
  for (const std::string& entry : entries.value()) {
    const std::string folder = fmt::format("{}/{}", kFolder, entry);
    const std::string name = files.read(folder + "/name").value_or("");
    if (!counts_by_itself(entry, name)) continue;
    const Captured<std::int64_t> energy = files.read_integer(folder + "/energy_uj");
    if (!energy.known()) {
      return Unknown{fmt::format("{} (as root: chmod a+r {}/energy_uj)", energy.why(), folder)};
    }
    reading.domains.push_back(
        {.name = name_of_domain(entry, name),
         .microjoules = energy.value(),
         .range = files.read_integer(folder + "/max_energy_range_uj").value_or(0)});
  }
  if (reading.domains.empty()) {
    return Unknown{fmt::format(
        "{} has no intel-rapl: the processor is of another kind, or it is virtual", kFolder)};
  }
  return reading;
}

results::Energy rapl_energy(const Captured<RaplReading>& before,
                            const Captured<RaplReading>& after) {
  results::Energy energy;
  for (const auto* reading : {&before, &after}) {
    if (reading->known()) continue;
    energy.source = Unknown{reading->why()};
    energy.joules = Unknown{reading->why()};
    energy.coverage = Unknown{reading->why()};
    return energy;
  }
  constexpr double kMicro = 1e-6;
  double sum = 0;
  for (const RaplReading::Domain& now : after.value().domains) {
    for (const RaplReading::Domain& then : before.value().domains) {
      if (then.name != now.name) continue;
      const std::int64_t wrapped = now.microjoules < then.microjoules ? now.range : 0;
      const double joules =
          kMicro * static_cast<double>(now.microjoules - then.microjoules + wrapped);
      energy.domains.push_back({.name = now.name, .joules = joules});
      sum += joules;
    }
  }
  energy.source = "rapl";
  energy.joules = sum;
  energy.coverage = "processor packages and their memory where listed; not the whole machine";
  return energy;
}

}  // namespace bench

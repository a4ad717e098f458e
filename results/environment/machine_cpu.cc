// Facts about the processors: capture_cpu of machine.h.

#include <array>
#include <set>
#include <string_view>

#include "models/base/errors.h"
#include "results/environment/machine.h"

namespace bench {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu/";

/// True if libraries choose kernels by this flag.
bool chooses_kernels(std::string_view flag) {
  constexpr std::array<std::string_view, 12> kNames = {
      "avx",      "avx2",          "fma",   "f16c",    "bmi2", "sse4_2",
      "avx_vnni", "avx_vnni_int8", "asimd", "asimdhp", "bf16", "i8mm"};
  for (const std::string_view family : {"avx512", "avx10", "amx", "sve"}) {
    if (flag.starts_with(family)) return true;
  }
  for (const std::string_view name : kNames) {
    if (flag == name) return true;
  }
  return false;
}

Captured<std::string> cpuinfo_field(const Captured<std::string>& cpuinfo, std::string_view name) {
  return cpuinfo.known() ? field_of(cpuinfo.value(), name) : cpuinfo;
}

/// The first of two names that is present: x86 and Arm use different names.
Captured<std::string> either_field(const Captured<std::string>& cpuinfo, std::string_view first,
                                   std::string_view second) {
  const Captured<std::string> value = cpuinfo_field(cpuinfo, first);
  if (value.known()) return value;
  const Captured<std::string> other = cpuinfo_field(cpuinfo, second);
  return other.known() ? Captured<std::string>(fmt::format("{} {}", second, other.value())) : value;
}

Captured<std::string> family_model_stepping(const Captured<std::string>& cpuinfo) {
  const Captured<std::string> family = cpuinfo_field(cpuinfo, "cpu family");
  const Captured<std::string> model = cpuinfo_field(cpuinfo, "model");
  const Captured<std::string> stepping = cpuinfo_field(cpuinfo, "stepping");
  if (family.known() && model.known() && stepping.known()) {
    return fmt::format("{}/{}/{}", family.value(), model.value(), stepping.value());
  }
  const Captured<std::string> variant = cpuinfo_field(cpuinfo, "CPU variant");
  const Captured<std::string> revision = cpuinfo_field(cpuinfo, "CPU revision");
  if (variant.known() && revision.known()) {
    return fmt::format("{}/{}", variant.value(), revision.value());
  }
  return Unknown{family.known() ? (model.known() ? stepping.why() : model.why()) : family.why()};
}

Captured<std::vector<std::string>> kernel_flags(const Captured<std::string>& cpuinfo) {
  Captured<std::string> flags = cpuinfo_field(cpuinfo, "flags");
  if (!flags.known()) flags = cpuinfo_field(cpuinfo, "Features");
  if (!flags.known()) return Unknown{flags.why()};
  std::vector<std::string> out;
  for (const std::string& flag : words_of(flags.value())) {
    if (chooses_kernels(flag)) out.push_back(flag);
  }
  return out;
}

/// The number of different texts in a file of each online processor's topology folder.
Captured<int> count_different(const SystemFiles& files, const std::vector<int>& online,
                              std::string_view name, std::string_view older_name) {
  std::set<std::string> seen;
  for (const int processor : online) {
    const std::string folder = fmt::format("{}cpu{}/topology/", kCpus, processor);
    Captured<std::string> text = files.read(fmt::format("{}{}", folder, name));
    if (!text.known() && !older_name.empty()) {
      text = files.read(fmt::format("{}{}", folder, older_name));
    }
    if (!text.known()) return Unknown{text.why()};
    seen.insert(text.value());
  }
  return static_cast<int>(seen.size());
}

Captured<std::vector<std::string>> caches(const SystemFiles& files) {
  std::vector<std::string> out;
  const auto folder = [](int index) { return fmt::format("{}cpu0/cache/index{}/", kCpus, index); };
  for (int index = 0; files.is_folder(folder(index)); ++index) {
    const Captured<std::string> level = files.read(folder(index) + "level");
    const Captured<std::string> type = files.read(folder(index) + "type");
    const Captured<std::string> size = files.read(folder(index) + "size");
    if (level.known() && type.known() && size.known()) {
      out.push_back(fmt::format("L{} {} {}", level.value(), type.value(), size.value()));
    }
  }
  if (out.empty()) {
    return Unknown{fmt::format("the kernel reports no caches in {}cpu0/cache", kCpus)};
  }
  return out;
}

Captured<double> megahertz(const SystemFiles& files, std::string_view name) {
  const Captured<std::int64_t> kilohertz =
      files.read_integer(fmt::format("{}cpu0/cpufreq/{}", kCpus, name));
  if (!kilohertz.known()) return Unknown{kilohertz.why()};
  return static_cast<double>(kilohertz.value()) / 1000;
}

Captured<int> count_list(const Captured<std::string>& text) {
  if (!text.known()) return Unknown{text.why()};
  const Captured<std::vector<int>> list = parse_processor_list(text.value());
  if (!list.known()) return Unknown{list.why()};
  return static_cast<int>(list.value().size());
}

/// Intel's driver has a switch that turns it off; all others have one that turns it on.
Captured<bool> turbo(const SystemFiles& files) {
  const Captured<std::int64_t> off =
      files.read_integer(fmt::format("{}intel_pstate/no_turbo", kCpus));
  if (off.known()) return off.value() == 0;
  const Captured<std::int64_t> on = files.read_integer(fmt::format("{}cpufreq/boost", kCpus));
  if (on.known()) return on.value() != 0;
  return Unknown{fmt::format("{}; {}", off.why(), on.why())};
}

Captured<std::vector<std::string>> numa_distances(const SystemFiles& files,
                                                  const Captured<std::string>& nodes) {
  if (!nodes.known()) return Unknown{nodes.why()};
  const Captured<std::vector<int>> list = parse_processor_list(nodes.value());
  if (!list.known()) return Unknown{list.why()};
  std::vector<std::string> rows;
  for (const int node : list.value()) {
    const Captured<std::string> row =
        files.read(fmt::format("/sys/devices/system/node/node{}/distance", node));
    if (!row.known()) return Unknown{row.why()};
    rows.push_back(row.value());
  }
  return rows;
}

}  // namespace

results::Cpu capture_cpu(const SystemFiles& files) {
  const Captured<std::string> cpuinfo = files.read("/proc/cpuinfo");
  const Captured<std::string> status = files.read("/proc/self/status");
  results::Cpu out;
  out.vendor = either_field(cpuinfo, "vendor_id", "CPU implementer");
  out.model = either_field(cpuinfo, "model name", "CPU part");
  out.family_model_stepping = family_model_stepping(cpuinfo);
  out.microcode = cpuinfo_field(cpuinfo, "microcode");
  out.flags = kernel_flags(cpuinfo);
  out.caches = caches(files);
  out.online = files.read(fmt::format("{}online", kCpus));
  out.threads = count_list(out.online);
  const auto online = parse_processor_list(out.online.value_or("")).value_or({});
  if (online.empty()) {
    out.sockets = Unknown{out.threads.why()};
    out.cores = Unknown{out.threads.why()};
  } else {
    out.sockets = count_different(files, online, "physical_package_id", "");
    out.cores = count_different(files, online, "core_cpus_list", "thread_siblings_list");
  }
  const Captured<std::int64_t> smt = files.read_integer(fmt::format("{}smt/active", kCpus));
  out.smt = smt.known() ? Captured<bool>(smt.value() != 0) : Captured<bool>(Unknown{smt.why()});
  out.base_mhz = megahertz(files, "base_frequency");
  out.max_mhz = megahertz(files, "cpuinfo_max_freq");
  out.min_mhz = megahertz(files, "cpuinfo_min_freq");
  out.governor = files.read(fmt::format("{}cpu0/cpufreq/scaling_governor", kCpus));
  out.driver = files.read(fmt::format("{}cpu0/cpufreq/scaling_driver", kCpus));
  out.epp = files.read(fmt::format("{}cpu0/cpufreq/energy_performance_preference", kCpus));
  const Captured<std::int64_t> bias =
      files.read_integer(fmt::format("{}cpu0/power/energy_perf_bias", kCpus));
  out.epb = bias.known() ? Captured<int>(static_cast<int>(bias.value()))
                         : Captured<int>(Unknown{bias.why()});
  out.turbo = turbo(files);
  const Captured<std::string> nodes = files.read("/sys/devices/system/node/online");
  out.numa_nodes = count_list(nodes);
  out.numa_distances = numa_distances(files, nodes);
  out.affinity = status.known() ? field_of(status.value(), "Cpus_allowed_list") : status;
  return out;
}

}  // namespace bench

#include "results/environment/machine.h"

#include <gnu/libc-version.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "models/base/errors.h"
#include "results/environment/cgroup.h"
#include "results/environment/dimms.h"
#include "results/record/identity.h"

namespace bench {
namespace {

Captured<std::string> os_name(const SystemFiles& files) {
  const Captured<std::string> text = files.read("/etc/os-release");
  if (!text.known()) return text;
  constexpr std::string_view kName = "PRETTY_NAME=";
  for (const std::string& line : lines_of(text.value())) {
    if (!line.starts_with(kName)) continue;
    std::string name = line.substr(kName.size());
    std::erase(name, '"');
    return name;
  }
  return Unknown{"/etc/os-release has no PRETTY_NAME"};
}

Captured<std::string> kernel_name(const SystemFiles& files) {
  const Captured<std::string> release = files.read("/proc/sys/kernel/osrelease");
  if (!release.known()) return release;
  const Captured<std::string> version = files.read("/proc/sys/kernel/version");
  return version.known() ? release.value() + " " + version.value() : release.value();
}

/// Enough of the hash to distinguish machines, too little to find the identifier.
Captured<std::string> machine_id_hash(const SystemFiles& files) {
  const Captured<std::string> id = files.read("/etc/machine-id");
  if (!id.known()) return id;
  if (id.value().empty()) return Unknown{"/etc/machine-id is empty"};
  return results::sha256_hex(id.value()).substr(0, 16);
}

/// The processor's flag shows that there is a hypervisor; the firmware's names show which one.
Captured<std::string> hypervisor(const SystemFiles& files) {
  const Captured<std::string> type = files.read("/sys/hypervisor/type");
  if (type.known()) return type;
  const Captured<std::string> cpuinfo = files.read("/proc/cpuinfo");
  if (!cpuinfo.known()) return cpuinfo;
  const Captured<std::string> flags = field_of(cpuinfo.value(), "flags");
  if (!flags.known()) return Unknown{"this kind of processor does not report a hypervisor"};
  const std::vector<std::string> words = words_of(flags.value());
  if (std::find(words.begin(), words.end(), "hypervisor") == words.end()) return "none";
  const std::string vendor = files.read("/sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = files.read("/sys/class/dmi/id/product_name").value_or("");
  if (vendor.empty() && product.empty()) return "yes, but the firmware does not name it";
  return vendor.empty() || product.empty() ? vendor + product
                                           : fmt::format("{} {}", vendor, product);
}

Captured<std::string> container(const SystemFiles& files) {
  const Captured<std::string> systemd = files.read("/run/systemd/container");
  if (systemd.known() && !systemd.value().empty()) return systemd;
  if (files.exists("/.dockerenv")) return "docker";
  if (files.exists("/run/.containerenv")) return "podman";
  if (files.exists("/var/run/secrets/kubernetes.io")) return "k8s";
  return "none found";
}

/// The kernel parameters that affect performance. Others may name disks and people.
Captured<std::string> kernel_parameters(const SystemFiles& files) {
  constexpr std::array<std::string_view, 24> kNames = {"mitigations",
                                                       "nosmt",
                                                       "isolcpus",
                                                       "nohz",
                                                       "nohz_full",
                                                       "rcu_nocbs",
                                                       "intel_pstate",
                                                       "amd_pstate",
                                                       "intel_idle.max_cstate",
                                                       "processor.max_cstate",
                                                       "idle",
                                                       "cpuidle.off",
                                                       "preempt",
                                                       "threadirqs",
                                                       "transparent_hugepage",
                                                       "hugepages",
                                                       "hugepagesz",
                                                       "default_hugepagesz",
                                                       "numa_balancing",
                                                       "numa",
                                                       "clocksource",
                                                       "tsc",
                                                       "maxcpus",
                                                       "iommu"};
  const Captured<std::string> line = files.read("/proc/cmdline");
  if (!line.known()) return line;
  std::string found;
  for (const std::string& word : words_of(line.value())) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) continue;
    if (!found.empty()) found += " ";
    found += word;
  }
  return found;
}

Captured<std::map<std::string, std::string>> vulnerabilities(const SystemFiles& files) {
  const std::string folder = "/sys/devices/system/cpu/vulnerabilities";
  const Captured<std::vector<std::string>> names = files.names_in(folder);
  if (!names.known()) return Unknown{names.why()};
  std::map<std::string, std::string> out;
  for (const std::string& name : names.value()) {
    const Captured<std::string> state = files.read(fmt::format("{}/{}", folder, name));
    out[name] = state.known() ? state.value() : state.why();
  }
  return out;
}

Captured<std::string> selinux(const SystemFiles& files) {
  if (!files.is_folder("/sys/fs/selinux")) return "off";
  const Captured<std::int64_t> enforce = files.read_integer("/sys/fs/selinux/enforce");
  if (!enforce.known()) return Unknown{enforce.why()};
  return enforce.value() != 0 ? "enforcing" : "permissive";
}

results::Cgroup cgroup(const SystemFiles& files) {
  results::Cgroup out;
  if (const auto quota = cgroup_cpu_quota(files)) {
    out.cpu_quota = quota->processors;
  } else {
    out.cpu_quota = Unknown{"no cgroup limits processor time"};
  }
  out.cpuset = cgroup_cpuset(files);
  out.memory_max = Unknown{"no cgroup limits memory"};
  for (const CgroupMemory& level : cgroup_memory_limits(files)) {
    if (!out.memory_max.known() || level.limit_bytes < out.memory_max.value()) {
      out.memory_max = level.limit_bytes;
    }
  }
  return out;
}

/// A line such as "MemTotal: 1234 kB" in bytes, or the number of "HugePages_Total: 3" unchanged.
Captured<std::int64_t> meminfo_field(const Captured<std::string>& meminfo, std::string_view name) {
  if (!meminfo.known()) return Unknown{meminfo.why()};
  const Captured<std::string> text = field_of(meminfo.value(), name);
  if (!text.known()) return Unknown{text.why()};
  const std::vector<std::string> words = words_of(text.value());
  const Captured<std::int64_t> number = parse_integer(words.empty() ? "" : words[0]);
  if (number.known() && words.size() == 2 && words[1] == "kB") return number.value() * 1024;
  return number;
}

/// The choice in brackets: "always [madvise] never".
Captured<std::string> chosen(const Captured<std::string>& text) {
  if (!text.known()) return text;
  const std::size_t open = text.value().find('[');
  const std::size_t close = text.value().find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return text;
  return text.value().substr(open + 1, close - open - 1);
}

/// Parses a number as the kernel writes it, with a decimal point whatever the locale.
std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The variables that a row names. A row that ends in '_' is a prefix, any other row a whole name.
std::map<std::string, std::string> variables_named(const char* const* environment,
                                                   std::span<const std::string_view> rows) {
  std::map<std::string, std::string> out;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const bool wanted = std::any_of(rows.begin(), rows.end(), [&](std::string_view row) {
      return row.ends_with('_') ? name.starts_with(row) : name == row;
    });
    if (wanted) out.emplace(name, entry.substr(equals + 1));
  }
  return out;
}

}  // namespace

results::Host capture_host(const SystemFiles& files) {
  results::Host out;
  out.hostname = files.read("/proc/sys/kernel/hostname");
  out.machine_id_hash = machine_id_hash(files);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval hands pointers out as integers.
  const auto* platform = reinterpret_cast<const char*>(getauxval(AT_PLATFORM));
  out.platform = platform != nullptr
                     ? Captured<std::string>(platform)
                     : Captured<std::string>(Unknown{"the kernel passes no AT_PLATFORM"});
  out.os = os_name(files);
  out.kernel = kernel_name(files);
  out.hypervisor = hypervisor(files);
  out.container = container(files);
  out.libc = fmt::format("glibc {}", gnu_get_libc_version());
  out.kernel_parameters = kernel_parameters(files);
  out.vulnerabilities = vulnerabilities(files);
  out.selinux = selinux(files);
  out.cgroup = cgroup(files);
  return out;
}

results::Memory capture_memory(const SystemFiles& files) {
  const Captured<std::string> meminfo = files.read("/proc/meminfo");
  results::Memory out;
  out.total = meminfo_field(meminfo, "MemTotal");
  out.available = meminfo_field(meminfo, "MemAvailable");
  const Captured<std::int64_t> swap_total = meminfo_field(meminfo, "SwapTotal");
  const Captured<std::int64_t> swap_free = meminfo_field(meminfo, "SwapFree");
  out.swap_used = swap_total.known() && swap_free.known()
                      ? Captured<std::int64_t>(swap_total.value() - swap_free.value())
                      : Captured<std::int64_t>(
                            Unknown{swap_total.known() ? swap_free.why() : swap_total.why()});
  out.hugepages = meminfo_field(meminfo, "HugePages_Total");
  out.thp = chosen(files.read("/sys/kernel/mm/transparent_hugepage/enabled"));
  const Captured<std::int64_t> balancing = files.read_integer("/proc/sys/kernel/numa_balancing");
  out.numa_balancing = balancing.known() ? Captured<bool>(balancing.value() != 0)
                                         : Captured<bool>(Unknown{balancing.why()});
  out.dimms = capture_dimms(files);
  return out;
}

results::LoadSample capture_load(const SystemFiles& files) {
  results::LoadSample out;
  const Captured<std::string> loadavg = files.read("/proc/loadavg");
  const std::vector<std::string> words = words_of(loadavg.value_or(""));
  const std::array<Captured<double>*, 3> averages = {&out.loadavg_1m, &out.loadavg_5m,
                                                     &out.loadavg_15m};
  for (std::size_t i = 0; i < averages.size(); ++i) {
    const auto number = i < words.size() ? parse_number(words[i]) : std::nullopt;
    if (number) {
      *averages[i] = *number;
    } else {
      *averages[i] = Unknown{loadavg.known() ? "/proc/loadavg has no such number" : loadavg.why()};
    }
  }
  const Captured<std::string> stat = files.read("/proc/stat");
  out.procs_running = Unknown{stat.known() ? "/proc/stat has no procs_running" : stat.why()};
  for (const std::string& line : lines_of(stat.value_or(""))) {
    const std::vector<std::string> fields = words_of(line);
    if (fields.size() == 2 && fields[0] == "procs_running") {
      const Captured<std::int64_t> number = parse_integer(fields[1]);
      if (number.known()) out.procs_running = static_cast<int>(number.value());
    }
  }
  return out;
}

Captured<std::string> capture_clocksource(const SystemFiles& files) {
  return files.read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

Captured<std::string> capture_time_zone() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 8> text{};
  if (localtime_r(&now, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%z", &parts) == 0) {
    return Unknown{"the C library reports no time zone"};
  }
  return std::string(text.data());
}

Captured<std::int64_t> resident_bytes(const SystemFiles& files) {
  return meminfo_field(files.read("/proc/self/status"), "VmRSS");
}

Captured<std::int64_t> peak_rss_bytes(const SystemFiles& files) {
  return meminfo_field(files.read("/proc/self/status"), "VmHWM");
}

bool reset_peak_rss() {
  // proc(5): 5 resets the peak resident set size to the current one. Some systems that only
  // resemble Linux accept the write and do nothing.
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  if (!file.good()) {
    return false;
  }
  constexpr std::int64_t kGrownSince = std::int64_t{4} << 20;
  const Captured<std::string> status = SystemFiles().read("/proc/self/status");
  const Captured<std::int64_t> peak = meminfo_field(status, "VmHWM");
  const Captured<std::int64_t> now = meminfo_field(status, "VmRSS");
  return peak.known() && now.known() && peak.value() - now.value() < kGrownSince;
}

std::map<std::string, std::string> capture_environment_variables(const char* const* environment) {
  constexpr std::array<std::string_view, 15> kNames = {"OMP_",       "KMP_",
                                                       "GOMP_",      "MKL_",
                                                       "DNNL_",      "ONEDNN_",
                                                       "OPENBLAS_",  "CUDA_",
                                                       "NCCL_",      "MALLOC_",
                                                       "TCMALLOC_",  "GLIBC_TUNABLES",
                                                       "LD_PRELOAD", "LD_LIBRARY_PATH",
                                                       "LD_BIND_NOW"};
  return variables_named(environment, kNames);
}

std::map<std::string, std::string> capture_tensorflow_variables(const char* const* environment) {
  // Other programs' names begin with TF_ too, and Terraform's hold passwords and keys
  // (TF_HTTP_PASSWORD, TF_ENCRYPTION, TF_VAR_*). TF_CONFIG names the hosts of a cluster.
  constexpr std::array<std::string_view, 24> kNames = {"TF_AUTO_MIXED_PRECISION_",
                                                       "TF_AUTOTUNE_",
                                                       "TF_CPP_",
                                                       "TF_CUBLAS_",
                                                       "TF_CUDA_",
                                                       "TF_CUDNN_",
                                                       "TF_DATA_EXPERIMENT_",
                                                       "TF_DETERMINISTIC_",
                                                       "TF_DISABLE_",
                                                       "TF_ENABLE_",
                                                       "TF_FORCE_",
                                                       "TF_FP16_",
                                                       "TF_GPU_",
                                                       "TF_MATMUL_",
                                                       "TF_MKL_",
                                                       "TF_MLIR_",
                                                       "TF_NUM_",
                                                       "TF_ONEDNN_",
                                                       "TF_PROFILER_",
                                                       "TF_ROCM_",
                                                       "TF_SYNC_",
                                                       "TF_TRT_",
                                                       "TF_USE_",
                                                       "TF_XLA_"};
  return variables_named(environment, kNames);
}

}  // namespace bench

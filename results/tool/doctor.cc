#include <array>
#include <chrono>
#include <filesystem>
#include <ostream>
#include <thread>
#include <vector>

#include "models/base/errors.h"
#include "results/environment/environment.h"
#include "results/environment/machine.h"
#include "results/environment/system_files.h"
#include "results/record/build_info.h"
#include "results/tool/commands.h"
#include "results/tool/selection.h"
#include "results/tool/table.h"

namespace bench::results {
namespace {

constexpr std::array kDoctorOptions = {
    kStoreOption,
    Option{.name = "seconds",
           .value = "S",
           .fallback = "1",
           .meaning = "how long to observe other activity, in seconds"},
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = kTableForms,
           .meaning = "output format"},
};

constexpr int kSomethingIsAmiss = 1;

/// What was checked, its state, and the remedy; the remedy is empty if the state is fine.
struct Finding {
  std::string what;
  std::string state;
  std::string advice;
};

template <class T>
std::string state_of(const Captured<T>& value) {
  if (!value.known()) return fmt::format("unavailable: {}", value.why());
  if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("{:g}", value.value());
  } else {
    return fmt::format("{}", value.value());
  }
}

Finding governor_of(const Cpu& cpu) {
  const bool amiss = cpu.governor.known() && cpu.governor.value() != "performance";
  return {"clock governor", state_of(cpu.governor),
          amiss ? "run as root: cpupower frequency-set -g performance" : ""};
}

Finding boost(const Cpu& cpu) {
  if (!cpu.turbo.known()) return {"boost", state_of(cpu.turbo), ""};
  const bool on = cpu.turbo.value();
  return {"boost", on ? "on" : "off",
          on ? "the clock varies with temperature and load; without boost it is slower but steadier"
             : ""};
}

Finding load(const LoadSample& sample, const Cpu& cpu) {
  constexpr double kIdle = 0.25;
  const bool busy = sample.loadavg_1m.known() && sample.loadavg_1m.value() > kIdle;
  return {"load average, 1 min",
          fmt::format("{} on {} threads", state_of(sample.loadavg_1m), state_of(cpu.threads)),
          busy ? "stop the other programs, or wait until they finish" : ""};
}

Finding swap_in_use(const Memory& memory) {
  if (!memory.swap_used.known()) return {"swap in use", state_of(memory.swap_used), ""};
  const bool used = memory.swap_used.value() > 0;
  return {"swap in use", state_of(memory.swap_used) + " bytes",
          used ? "free memory, then run as root: swapoff -a && swapon -a" : ""};
}

Finding huge_pages(const Memory& memory) {
  const bool never = memory.thp.known() && memory.thp.value() == "never";
  return {"transparent huge pages", state_of(memory.thp),
          never ? "run as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled" : ""};
}

Finding balancing(const Memory& memory) {
  const bool on = memory.numa_balancing.known() && memory.numa_balancing.value();
  return {"NUMA balancing",
          memory.numa_balancing.known() ? (on ? "on" : "off") : state_of(memory.numa_balancing),
          on ? "pages move during the run; run as root: sysctl kernel.numa_balancing=0" : ""};
}

Finding clock(const SystemFiles& files) {
  const Captured<std::string> source = capture_clocksource(files);
  const bool slow = source.known() && (source.value() == "hpet" || source.value() == "acpi_pm");
  return {
      "clock source", state_of(source),
      slow ? "reading this clock takes about 1 us; the kernel log says why tsc is not used" : ""};
}

Finding build() {
  const Source source = source_info();
  const bool dirty = source.dirty.value_or(true);
  std::string state = fmt::format("{} {}", source.bench_version, state_of(source.git_rev));
  if (source.dirty.known()) state += dirty ? ", with uncommitted changes" : ", clean";
  return {"build of bench", state,
          dirty ? "commit or revert the changes and rebuild, so that others can reproduce the build"
                : ""};
}

Finding energy(const SystemFiles& files) {
  const Captured<std::int64_t> counter =
      files.read_integer("/sys/class/powercap/intel-rapl:0/energy_uj");
  return {"energy counter (RAPL)", counter.known() ? "readable" : "not readable: " + counter.why(),
          ""};
}

/// Does not create the store.
Finding store_of(const Arguments& arguments) {
  const std::filesystem::path path = store_path(arguments);
  if (!std::filesystem::exists(path)) {
    return {"store", path.string() + ": not created yet", ""};
  }
  try {
    const Store store(path, Store::Access::kRead);
    return {"store", fmt::format("{}: {} runs", path.string(), store.size()),
            store.warnings().empty() ? "" : store.warnings().front()};
  } catch (const DataError& error) {
    return {"store", error.what(), "choose another store with --store=PATH or $BENCH_STORE"};
  }
}

/// The warnings that a run would get, judged by what happens in `seconds`.
void add_warnings(std::vector<Finding>& findings, const SystemFiles& files, double seconds) {
  const int online = files.read("/proc/stat").known()
                         ? read_processor_times(files).value_or(ProcessorTimes{}).online
                         : 0;
  std::vector<int> processors;
  for (int i = 0; i < online; ++i) processors.push_back(i);
  const EnvironmentSnapshot before = read_environment(files, processors);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  EnvironmentSnapshot after = read_environment(files, processors);
  after.governors.clear();  // Governors have a separate finding.
  const std::vector<std::string> warnings =
      environment_warnings(before, after, {.processors = online});
  for (const std::string& warning : warnings) {
    findings.push_back({"now", "disturbed", warning});
  }
  if (warnings.empty()) {
    findings.push_back({"now", fmt::format("quiet for {:g} s", seconds), ""});
  }
}

}  // namespace

std::span<const Option> options_of_doctor() { return kDoctorOptions; }

int run_doctor(const Arguments& arguments, Streams streams) {
  arguments.refuse_operands();
  const SystemFiles files;
  const Host host = capture_host(files);
  const Cpu cpu = capture_cpu(files);
  const Memory memory = capture_memory(files);
  std::vector<Finding> findings = {
      {"processor", state_of(cpu.model), ""},
      {"hypervisor", state_of(host.hypervisor), ""},
      {"container", state_of(host.container), ""},
      build(),
      governor_of(cpu),
      boost(cpu),
      clock(files),
      load(capture_load(files), cpu),
      swap_in_use(memory),
      huge_pages(memory),
      balancing(memory),
      energy(files),
      store_of(arguments),
  };
  add_warnings(findings, files, arguments.number("seconds", 0, 86400));
  Table table{.columns = {"what", "state", "advice"}};
  bool amiss = false;
  for (const Finding& finding : findings) {
    amiss = amiss || !finding.advice.empty();
    table.rows.push_back({finding.what, finding.state, finding.advice});
  }
  print_table(streams.out, table, arguments.text("format"));
  return amiss ? kSomethingIsAmiss : 0;
}

}  // namespace bench::results

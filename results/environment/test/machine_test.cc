#include "results/environment/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "results/environment/process_settings.h"
#include "results/environment/test/fake_system.h"
#include "results/record/identity.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One package, two cores with two hardware threads each.
void add_x86(const FakeSystem& system) {
  system.write("/proc/cpuinfo",
               "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"
               "model name\t: INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz\nstepping\t: 2\n"
               "microcode\t: 0xffffffff\n"
               "flags\t\t: fpu sse2 fma avx avx2 smep hypervisor avx512f avx512_fp16 amx_tile\n");
  system.write("/sys/devices/system/cpu/online", "0-3\n");
  system.write("/sys/devices/system/cpu/smt/active", "1\n");
  const char* const siblings[] = {"0,2", "1,3", "0,2", "1,3"};
  for (int i = 0; i < 4; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", i);
    system.write(folder + "physical_package_id", "0\n");
    system.write(folder + "thread_siblings_list", siblings[i]);
  }
  system.write("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  system.write("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  system.write("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
  system.write("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3900000\n");
  system.write("/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "power\n");
  system.write("/sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6\n");
  system.write("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  system.write("/sys/devices/system/node/online", "0-1\n");
  system.write("/sys/devices/system/node/node0/distance", "10 21\n");
  system.write("/sys/devices/system/node/node1/distance", "21 10\n");
  system.write("/proc/self/status", "Name:\tbench\nVmHWM:\t  2048 kB\nCpus_allowed_list:\t0-1\n");
}

TEST(CaptureCpu, ReadsAnX86Machine) {
  const FakeSystem system;
  add_x86(system);
  const results::Cpu cpu = capture_cpu(system.files());
  EXPECT_EQ(cpu.vendor.value(), "GenuineIntel");
  EXPECT_THAT(cpu.model.value(), HasSubstr("8581C"));
  EXPECT_EQ(cpu.family_model_stepping.value(), "6/207/2");
  EXPECT_EQ(cpu.sockets.value(), 1);
  EXPECT_EQ(cpu.cores.value(), 2);
  EXPECT_EQ(cpu.threads.value(), 4);
  EXPECT_TRUE(cpu.smt.value());
  EXPECT_THAT(cpu.flags.value(),
              ElementsAre("fma", "avx", "avx2", "avx512f", "avx512_fp16", "amx_tile"));
  EXPECT_THAT(cpu.caches.value(), ElementsAre("L1 Data 48K"));
  EXPECT_DOUBLE_EQ(cpu.max_mhz.value(), 3900);
  EXPECT_EQ(cpu.numa_nodes.value(), 2);
  EXPECT_THAT(cpu.numa_distances.value(), ElementsAre("10 21", "21 10"));
  EXPECT_EQ(cpu.epp.value(), "power");
  EXPECT_EQ(cpu.epb.value(), 6);
  EXPECT_FALSE(cpu.turbo.value());
  EXPECT_EQ(cpu.affinity.value(), "0-1");
  EXPECT_THAT(cpu.governor.why(), HasSubstr("scaling_governor"));
}

TEST(CaptureCpu, ReadsAnArmMachine) {
  const FakeSystem system;
  system.write("/proc/cpuinfo",
               "processor\t: 0\nFeatures\t: fp asimd asimdhp sve bf16\nCPU implementer\t: 0x41\n"
               "CPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 1\n");
  const results::Cpu cpu = capture_cpu(system.files());
  EXPECT_EQ(cpu.vendor.value(), "CPU implementer 0x41");
  EXPECT_EQ(cpu.model.value(), "CPU part 0xd4f");
  EXPECT_EQ(cpu.family_model_stepping.value(), "0x0/1");
  EXPECT_THAT(cpu.flags.value(), ElementsAre("asimd", "asimdhp", "sve", "bf16"));
  EXPECT_EQ(cpu.microcode.why(), "the kernel does not report 'microcode'");
}

TEST(CaptureCpu, GivesAReasonForAllThatAnEmptyMachineHides) {
  const FakeSystem system;
  const results::Cpu cpu = capture_cpu(system.files());
  EXPECT_EQ(cpu.vendor.why(), "cannot open /proc/cpuinfo: No such file or directory");
  EXPECT_THAT(cpu.cores.why(), HasSubstr("/sys/devices/system/cpu/online"));
  EXPECT_THAT(cpu.sockets.why(), HasSubstr("/sys/devices/system/cpu/online"));
  EXPECT_THAT(cpu.caches.why(), HasSubstr("cpu0/cache"));
  EXPECT_THAT(cpu.affinity.why(), HasSubstr("/proc/self/status"));
  EXPECT_THAT(cpu.epp.why(), HasSubstr("energy_performance_preference"));
  EXPECT_THAT(cpu.turbo.why(), HasSubstr("cpufreq/boost"));
  EXPECT_THAT(cpu.numa_distances.why(), HasSubstr("node/online"));
}

TEST(CaptureHost, ReadsNamesAndLimits) {
  const FakeSystem system;
  add_x86(system);
  system.write("/proc/sys/kernel/hostname", "node7\n");
  system.write("/etc/machine-id", "abc\n");
  system.write("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  system.write("/proc/sys/kernel/osrelease", "6.1.0-31-amd64\n");
  system.write("/proc/sys/kernel/version", "#1 SMP\n");
  system.write("/sys/class/dmi/id/sys_vendor", "Acme\n");
  system.write("/sys/class/dmi/id/product_name", "Virtual 3000\n");
  system.write("/run/systemd/container", "lxc\n");
  system.write("/proc/self/mountinfo", "29 22 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  system.write("/proc/self/cgroup", "0::/\n");
  system.write("/cg/cpu.max", "50000 100000\n");
  system.write("/cg/memory.max", "1000\n");
  system.write("/proc/cmdline", "root=UUID=1-2 quiet mitigations=off isolcpus=2-7 user=me\n");
  system.write("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
  system.write("/sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n");
  system.write("/sys/fs/selinux/enforce", "0");
  const results::Host host = capture_host(system.files());
  EXPECT_EQ(host.kernel_parameters.value(), "mitigations=off isolcpus=2-7");
  EXPECT_EQ(host.vulnerabilities.value(),
            (std::map<std::string, std::string>{{"l1tf", "Not affected"},
                                                {"meltdown", "Mitigation: PTI"}}));
  EXPECT_EQ(host.selinux.value(), "permissive");
  EXPECT_EQ(host.hostname.value(), "node7");
  EXPECT_EQ(host.machine_id_hash.value(), "ba7816bf8f01cfea");  // SHA-256 of "abc"
  EXPECT_EQ(host.os.value(), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(host.kernel.value(), "6.1.0-31-amd64 #1 SMP");
  EXPECT_EQ(host.hypervisor.value(), "Acme Virtual 3000");
  EXPECT_EQ(host.container.value(), "lxc");
  EXPECT_DOUBLE_EQ(host.cgroup.cpu_quota.value(), 0.5);
  EXPECT_EQ(host.cgroup.memory_max.value(), 1000);
  EXPECT_THAT(host.libc.value(), HasSubstr("glibc "));
}

TEST(CaptureHost, GivesAReasonForAllThatAnEmptyMachineHides) {
  const FakeSystem system;
  const results::Host host = capture_host(system.files());
  EXPECT_THAT(host.hostname.why(), HasSubstr("/proc/sys/kernel/hostname"));
  EXPECT_THAT(host.os.why(), HasSubstr("/etc/os-release"));
  EXPECT_EQ(host.container.value(), "none found");
  EXPECT_THAT(host.vulnerabilities.why(), HasSubstr("vulnerabilities"));
  EXPECT_EQ(host.selinux.value(), "off");
  EXPECT_EQ(host.cgroup.memory_max.why(), "no cgroup limits memory");
  EXPECT_EQ(host.cgroup.cpu_quota.why(), "no cgroup limits processor time");
}

TEST(CaptureMemory, IsInBytes) {
  const FakeSystem system;
  system.write("/proc/meminfo",
               "MemTotal: 100 kB\nMemAvailable: 50 kB\nSwapTotal: 10 kB\nSwapFree: 4 kB\n"
               "HugePages_Total:       3\n");
  system.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  system.write("/proc/sys/kernel/numa_balancing", "0\n");
  const results::Memory memory = capture_memory(system.files());
  EXPECT_EQ(memory.total.value(), 102400);
  EXPECT_EQ(memory.available.value(), 51200);
  EXPECT_EQ(memory.swap_used.value(), 6144);
  EXPECT_EQ(memory.hugepages.value(), 3);
  EXPECT_EQ(memory.thp.value(), "madvise");
  EXPECT_FALSE(memory.numa_balancing.value());
}

TEST(CaptureProcess, RecordsSchedulingAndPriority) {
  const FakeSystem system;
  system.write("/proc/sys/kernel/randomize_va_space", "2\n");
  const results::Process process = capture_process(system.files());
  EXPECT_EQ(process.address_randomization.value(), 2);
  EXPECT_EQ(process.nice.value(), getpriority(PRIO_PROCESS, 0));
  EXPECT_TRUE(process.scheduling.known());
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  if (stack.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(process.limit_stack.why(), "unlimited");
  } else {
    EXPECT_EQ(process.limit_stack.value(), static_cast<std::int64_t>(stack.rlim_cur));
  }
}

TEST(ProgramSha256, IsTheHashOfTheRunningFile) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  EXPECT_EQ(program_sha256().value(), results::sha256_hex(bytes.str()));
}

TEST(CaptureLoad, ReadsAveragesAndRunningTasks) {
  const FakeSystem system;
  EXPECT_THAT(capture_load(system.files()).loadavg_1m.why(), HasSubstr("/proc/loadavg"));
  system.write("/proc/loadavg", "2.14 1.79 0.99 3/97 8205\n");
  system.write("/proc/stat", "cpu 1\nprocs_running 3\n");
  const results::LoadSample load = capture_load(system.files());
  EXPECT_DOUBLE_EQ(load.loadavg_1m.value(), 2.14);
  EXPECT_DOUBLE_EQ(load.loadavg_5m.value(), 1.79);
  EXPECT_DOUBLE_EQ(load.loadavg_15m.value(), 0.99);
  EXPECT_EQ(load.procs_running.value(), 3);
}

TEST(PeakRss, IsInBytes) {
  const FakeSystem system;
  add_x86(system);
  EXPECT_EQ(peak_rss_bytes(system.files()).value(), 2 << 20);
  EXPECT_GT(peak_rss_bytes(SystemFiles()).value(), 0);
}

TEST(PeakRss, RestartsIfTheSystemAllowsIt) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  // Do not use the allocator: AddressSanitizer's may keep freed memory.
  void* const touched =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(touched, MAP_FAILED);
  std::memset(touched, 1, kBytes);
  ASSERT_EQ(munmap(touched, kBytes), 0);
  const std::int64_t before = peak_rss_bytes(SystemFiles()).value();
  if (!reset_peak_rss()) {
    GTEST_SKIP() << "this system cannot reset the peak";
  }
  EXPECT_LT(peak_rss_bytes(SystemFiles()).value(), before - static_cast<std::int64_t>(kBytes / 2));
}

TEST(CaptureEnvironmentVariables, TakesWhatChangesSpeedAndNothingElse) {
  const char* const environment[] = {"OMP_NUM_THREADS=2", "HOME=/root", "LD_PRELOAD=a=b.so",
                                     "LD_PRELOADED=no",   "BROKEN",     nullptr};
  EXPECT_EQ(
      capture_environment_variables(environment),
      (std::map<std::string, std::string>{{"OMP_NUM_THREADS", "2"}, {"LD_PRELOAD", "a=b.so"}}));
}

TEST(CaptureTensorflowVariables, TakesTensorFlowsVariablesOnly) {
  const char* const environment[] = {"TF_CPP_MIN_LOG_LEVEL=1",
                                     "TFX=no",
                                     "TF_XLA_FLAGS=--a=b",
                                     "TF_GPU_THREAD_MODE=gpu_private",
                                     "TF_VAR_password=x",
                                     "TF_TOKEN_host=x",
                                     "TF_HTTP_PASSWORD=x",
                                     "TF_HTTP_CLIENT_PRIVATE_KEY_PEM=x",
                                     "TF_ENCRYPTION=x",
                                     "TF_CLI_ARGS=-var password=x",
                                     "TF_DATA_DIR=x",
                                     "TF_LOG=x",
                                     "TF_CONFIG={\"cluster\": {\"worker\": [\"node7:1\"]}}",
                                     nullptr};
  EXPECT_EQ(capture_tensorflow_variables(environment),
            (std::map<std::string, std::string>{{"TF_CPP_MIN_LOG_LEVEL", "1"},
                                                {"TF_XLA_FLAGS", "--a=b"},
                                                {"TF_GPU_THREAD_MODE", "gpu_private"}}));
}

TEST(LoadedLibraries, KnowTheCLibraryOfThisProcess) {
  const std::vector<results::Library> libraries = loaded_libraries();
  const auto libc = std::find_if(libraries.begin(), libraries.end(), [](const auto& library) {
    return library.name.starts_with("libc.so");
  });
  ASSERT_NE(libc, libraries.end());
  EXPECT_THAT(libc->so_path.value(), HasSubstr("/libc.so"));
  EXPECT_TRUE(libc->version.known() || !libc->version.why().empty());
  if (libc->build_id.known()) {
    EXPECT_THAT(libc->build_id.value(), ::testing::MatchesRegex("[0-9a-f]+"));
  }
}

TEST(Clocks, HaveASourceAndATimeZone) {
  const FakeSystem system;
  system.write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  EXPECT_EQ(capture_clocksource(system.files()).value(), "tsc");
  EXPECT_THAT(capture_time_zone().value(), ::testing::MatchesRegex("[+-][0-9]+"));
}

}  // namespace
}  // namespace bench

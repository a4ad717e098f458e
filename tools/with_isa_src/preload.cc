// Preloaded into a program: makes CPUID answer as on a processor with fewer instruction sets.
// It replaces the CPUID instructions that the file WITH_ISA_SITES lists by an undefined opcode of
// the same length. The handler of SIGILL answers in their place. WITH_ISA names the instruction
// set, as oneDNN does. Unlike CPUID faulting, this works on every x86-64 processor and kernel.
#include <cpuid.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "kernels/cpu/cpu_isa.h"
#include "tools/with_isa_src/hidden_features.h"

namespace {

/// 0F 04 is undefined on every processor.
constexpr std::uint8_t kCpuid[] = {0x0f, 0xa2};
constexpr std::uint8_t kUndefined[] = {0x0f, 0x04};

bench::IsaLevel level = bench::IsaLevel::avx2;

void answer(int signal, siginfo_t* /*info*/, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a register holds the address
  const auto* const instruction = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  if (std::memcmp(instruction, kUndefined, sizeof kUndefined) != 0) {
    std::signal(signal, SIG_DFL);  // a real fault: it happens again, and ends the program
    return;
  }
  const auto leaf = static_cast<std::uint32_t>(registers[REG_RAX]);
  const auto subleaf = static_cast<std::uint32_t>(registers[REG_RCX]);
  bench::CpuidRegisters out;
  __cpuid_count(leaf, subleaf, out.eax, out.ebx, out.ecx, out.edx);
  out = bench::without_features(level, leaf, subleaf, out);
  registers[REG_RAX] = out.eax;
  registers[REG_RBX] = out.ebx;
  registers[REG_RCX] = out.ecx;
  registers[REG_RDX] = out.edx;
  registers[REG_RIP] += sizeof kUndefined;
}

void replace(std::uintptr_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in this process
  auto* const instruction = reinterpret_cast<std::uint8_t*>(address);
  if (std::memcmp(instruction, kCpuid, sizeof kCpuid) != 0) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = address / page * page;
  const std::size_t size = address + sizeof kCpuid - begin;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the same
  auto* const first = reinterpret_cast<void*>(begin);
  if (mprotect(first, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  std::memcpy(instruction, kUndefined, sizeof kUndefined);
  mprotect(first, size, PROT_READ | PROT_EXEC);
}

/// The sites of one loaded file: `data` is the name of the file that lists "PATH ADDRESS" in each
/// line.
int replace_in(dl_phdr_info* loaded, std::size_t /*size*/, void* data) {
  char path[PATH_MAX];
  if (realpath(*loaded->dlpi_name == '\0' ? "/proc/self/exe" : loaded->dlpi_name, path) == nullptr)
    return 0;
  // No stream of C++: its library is not initialised yet.
  std::FILE* const sites = std::fopen(static_cast<const char*>(data), "re");
  if (sites == nullptr) return 0;
  const std::size_t length = std::strlen(path);
  char line[PATH_MAX + 32];
  while (std::fgets(line, sizeof line, sites) != nullptr) {
    if (std::strncmp(line, path, length) == 0 && line[length] == ' ') {
      replace(loaded->dlpi_addr + std::strtoull(line + length, nullptr, 16));
    }
  }
  std::fclose(sites);
  return 0;
}

/// The value of a variable such as "WITH_ISA="; null if it is not set.
char* value_of(std::string_view name, char** environment) {
  for (; *environment != nullptr; ++environment) {
    if (std::string_view(*environment).starts_with(name)) return *environment + name.size();
  }
  return nullptr;
}

// Linked with -z initfirst, so that it runs before libraries ask for the processor's features.
// getenv does not work that early.
[[gnu::constructor]] void install(int /*argc*/, char** /*argv*/, char** environment) {
  const char* const isa = value_of("WITH_ISA=", environment);
  char* const sites = value_of("WITH_ISA_SITES=", environment);
  if (isa == nullptr || sites == nullptr || !bench::isa_level(isa)) return;
  level = *bench::isa_level(isa);
  struct sigaction action = {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
  dl_iterate_phdr(replace_in, sites);
}

}  // namespace

// Preloaded into a program. Makes CPUID fault and answers in its place with AMX's tile palette. It
// handles SIGSEGV, so a program with another handler for that signal ends at its next CPUID.
#include <cpuid.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string_view>

#include "tools/with_amx_src/cpuid_faulting.h"
#include "tools/with_amx_src/palette.h"

namespace {

bool is_cpuid(const std::uint8_t* instruction) {
  return instruction[0] == 0x0f && instruction[1] == 0xa2;
}

void answer(int signal, siginfo_t* /*info*/, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a register holds the address
  const auto* const instruction = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  if (!is_cpuid(instruction)) {
    std::signal(signal, SIG_DFL);  // a real fault: it happens again, and ends the program
    return;
  }
  const auto leaf = static_cast<std::uint32_t>(registers[REG_RAX]);
  const auto subleaf = static_cast<std::uint32_t>(registers[REG_RCX]);
  bench::CpuidRegisters out;
  bench::allow_cpuid(true);
  __cpuid_count(leaf, subleaf, out.eax, out.ebx, out.ecx, out.edx);
  bench::allow_cpuid(false);
  out = bench::with_tile_palette(leaf, subleaf, out);
  registers[REG_RAX] = out.eax;
  registers[REG_RBX] = out.ebx;
  registers[REG_RCX] = out.ecx;
  registers[REG_RDX] = out.edx;
  registers[REG_RIP] += 2;
}

// Linked with -z initfirst, to run before libraries query the processor's features.
[[gnu::constructor]] void install() {
  struct sigaction action = {};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  if (!bench::allow_cpuid(false)) {
    constexpr std::string_view kMessage = "with_amx: cannot intercept CPUID on this machine\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  }
}

}  // namespace

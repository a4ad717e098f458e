#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "kernels/cpu/cpu_isa.h"
#include "tools/with_amx_src/cpuid_faulting.h"

namespace {

constexpr int kUsage = 2;
constexpr int kNotRun = 127;

/// Returns the value of LD_PRELOAD with the library, which is in this program's folder.
std::string preload() {
  const auto library =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libamx_palette.so";
  const char* const others = std::getenv("LD_PRELOAD");
  return others == nullptr || *others == '\0' ? library.string() : library.string() + ":" + others;
}

/// Sets up the environment. Returns false if AMX remains unavailable.
bool prepare() {
  const auto cpuid = bench::this_processor();
  if (!cpuid || !bench::cap_for_hidden_amx_tiles(*cpuid)) {
    std::cerr << "with_amx: this machine does not hide AMX; the command runs unchanged\n";
    return true;
  }
  if (!bench::allow_cpuid(false)) {
    std::cerr
        << "with_amx: the command was not run: AMX is hidden, and this kernel or processor has no "
           "CPUID faulting, which is needed to reveal it\n";
    return false;
  }
  bench::allow_cpuid(true);
  setenv("LD_PRELOAD", preload().c_str(), 1);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "with_amx: the command is missing; usage: with_amx COMMAND [ARGUMENTS]\n";
    return kUsage;
  }
  if (!prepare()) {
    return EXIT_FAILURE;
  }
  execvp(argv[1], argv + 1);
  std::cerr << "with_amx: " << argv[1] << ": " << std::generic_category().message(errno) << "\n";
  return kNotRun;
}

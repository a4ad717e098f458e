#include "kernels/cpu/openmp_environment.h"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string_view>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Spins of a waiting thread before it sleeps. One takes 40 to 140 cycles (`pause`), so that all
/// together take about as long as two wake-ups. OpenMP's default of 300,000 keeps a processor busy
/// for milliseconds. Other threads, and so the awaited thread, could use that time.
constexpr const char* kSpins = "10000";

/// Four times the stack of a kernel's deepest call.
constexpr std::int64_t kLeastStackBytes = std::int64_t{256} << 10;

/// Parses a size like GNU OpenMP.
std::optional<std::int64_t> bytes_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + begin, end, number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string units;
  std::copy_if(rest, end, std::back_inserter(units),
               [](unsigned char letter) { return std::isspace(letter) == 0; });
  if (units.size() > 1) return std::nullopt;
  const unsigned char unit = units.empty() ? 'k' : static_cast<unsigned char>(units.front());
  constexpr std::string_view kUnits = "bkmg";  // A factor of 1024 each.
  const std::size_t power = kUnits.find(static_cast<char>(std::tolower(unit)));
  if (power == kUnits.npos) return std::nullopt;
  const int shift = 10 * static_cast<int>(power);
  return number > (std::numeric_limits<std::int64_t>::max() >> shift)
             ? std::nullopt
             : std::optional(number << shift);
}

}  // namespace

std::optional<std::string> short_waits(const Environment& environment) {
  const bool decided =
      !environment(kSpinVariable).empty() || !environment("OMP_WAIT_POLICY").empty();
  return decided ? std::nullopt : std::optional<std::string>(kSpins);
}

void restart_with_short_waits(char** argv) {
  const auto spins = short_waits(own_environment);
  // Without a separate loader (AT_BASE), the process is the loader, called by name. After a restart
  // it would parse the program's flags as its options.
  if (!spins || getauxval(AT_BASE) == 0 || setenv(kSpinVariable, spins->c_str(), 1) != 0) {
    return;
  }
  // Uses the program's path, so that process lists show its name.
  std::array<char, PATH_MAX> path{};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) > 0) {
    execv(path.data(), argv);
  }
  unsetenv(kSpinVariable);
}

void check_stacks(const Environment& environment, std::int64_t limit_bytes) {
  constexpr std::int64_t kKibi = 1024;
  for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    if (const auto bytes = bytes_of(environment(name))) {
      if (*bytes < kLeastStackBytes) {
        throw UsageError(
            fmt::format("{} gives each thread a stack of {} bytes; accepted: at least {}K", name,
                        *bytes, kLeastStackBytes / kKibi));
      }
      break;  // The other variable is not read.
    }
  }
  if (limit_bytes < kLeastStackBytes) {
    throw UsageError(fmt::format("the stack limit (ulimit -s) is {} KiB; accepted: at least {} KiB",
                                 limit_bytes / kKibi, kLeastStackBytes / kKibi));
  }
}

std::int64_t stack_limit_bytes() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return known ? static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kMost)) : kMost;
}

}  // namespace bench

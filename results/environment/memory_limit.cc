#include "results/environment/memory_limit.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "results/environment/cgroup.h"

namespace bench {
namespace {

/// The "1234 kB" after a name in /proc/meminfo or /proc/self/status, in bytes.
std::optional<std::int64_t> bytes_behind(const std::string& text, std::string_view name) {
  const std::vector<std::string> words = words_of(field_of(text, name).value_or(""));
  const Captured<std::int64_t> kibibytes = parse_integer(words.empty() ? "" : words.front());
  return kibibytes.known() ? std::optional(kibibytes.value() * 1024) : std::nullopt;
}

/// The soft limit in /proc/self/limits that begins with `name`; nullopt if it is unlimited.
std::optional<std::int64_t> process_limit(const SystemFiles& files, std::string_view name) {
  for (const std::string& line : lines_of(files.read("/proc/self/limits").value_or(""))) {
    if (!line.starts_with(name)) continue;
    const std::vector<std::string> words = words_of(line.substr(name.size()));
    const Captured<std::int64_t> soft = parse_integer(words.empty() ? "" : words.front());
    return soft.known() ? std::optional(soft.value()) : std::nullopt;
  }
  return std::nullopt;
}

/// The memory that future threads reserve, used or not. Each processor has one thread that computes
/// and one that draws numbers or decodes.
struct ThreadSpace {
  std::int64_t stacks = 0;  ///< Counts as data and as address space.
  std::int64_t arenas = 0;  ///< Reserved by malloc for the threads; only address space.
};

ThreadSpace thread_space(const SystemFiles& files, const std::string& status) {
  constexpr std::int64_t kUsualStack = std::int64_t{8} << 20;
  constexpr std::int64_t kLargestStack = std::int64_t{1} << 40;  // no thread starts with more
  constexpr std::int64_t kArena = std::int64_t{64} << 20;        // glibc's HEAP_MAX_SIZE
  constexpr std::int64_t kMostArenas = 8;  // without space for more, threads share them
  const auto processors =
      parse_processor_list(field_of(status, "Cpus_allowed_list").value_or("")).value_or({});
  const std::int64_t threads = 2 * static_cast<std::int64_t>(processors.size());
  const auto stack = process_limit(files, "Max stack size").value_or(kUsualStack);
  return {.stacks = threads * std::min(stack, kLargestStack),
          .arenas = std::min(threads, kMostArenas) * kArena};
}

}  // namespace

Captured<MemoryLimit> memory_limit(const SystemFiles& files) {
  std::optional<MemoryLimit> smallest;
  const auto consider = [&smallest](std::int64_t free, const std::string& set_by) {
    const std::int64_t bytes = std::max<std::int64_t>(free - kUnplannedBytes, 0);
    if (!smallest || bytes < smallest->bytes) {
      smallest = {.bytes = bytes, .set_by = set_by};
    }
  };
  const std::string status = files.read("/proc/self/status").value_or("");
  // The kernel counts mapped code as file cache, but without it the program is extremely slow.
  const std::int64_t own_code = bytes_behind(status, "RssFile").value_or(0);
  const Captured<std::string> meminfo = files.read("/proc/meminfo");
  if (const auto available = bytes_behind(meminfo.value_or(""), "MemAvailable")) {
    consider(*available - own_code, "/proc/meminfo (MemAvailable)");
  }
  for (const CgroupMemory& group : cgroup_memory_limits(files)) {
    consider(group.limit_bytes - group.used_bytes - own_code, group.file);
  }
  const ThreadSpace threads = thread_space(files, status);
  if (const auto most = process_limit(files, "Max address space")) {
    consider(*most - bytes_behind(status, "VmSize").value_or(0) - threads.stacks - threads.arenas,
             "ulimit -v");
  }
  if (const auto most = process_limit(files, "Max data size")) {
    consider(*most - bytes_behind(status, "VmData").value_or(0) - threads.stacks, "ulimit -d");
  }
  if (!smallest) {
    return Unknown{meminfo.known() ? "/proc/meminfo has no MemAvailable" : meminfo.why()};
  }
  return *smallest;
}

}  // namespace bench

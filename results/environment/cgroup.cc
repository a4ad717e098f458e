#include "results/environment/cgroup.h"

#include <algorithm>
#include <cstddef>

namespace bench {
namespace {

/// One mounted hierarchy that contains the controller.
struct Mount {
  int version = 2;
  std::string root;   ///< The mounted group, relative to the hierarchy's root.
  std::string point;  ///< The mount point.
};

bool holds(std::string_view comma_list, std::string_view item) {
  while (!comma_list.empty()) {
    const std::size_t comma = comma_list.find(',');
    if (comma_list.substr(0, comma) == item) return true;
    if (comma == comma_list.npos) return false;
    comma_list.remove_prefix(comma + 1);
  }
  return false;
}

/// Decodes the octal escapes of mountinfo: "\040" is a blank.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1;
    };
    if (text[i] == '\\' && digit(i + 1) >= 0 && digit(i + 2) >= 0 && digit(i + 3) >= 0) {
      out += static_cast<char>(digit(i + 1) * 64 + digit(i + 2) * 8 + digit(i + 3));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<Mount> mounts_of(const SystemFiles& files, std::string_view controller) {
  std::vector<Mount> out;
  // Fields (proc(5)): id parent device root point options [tags] "-" type source super-options.
  for (const std::string& line : lines_of(files.read("/proc/self/mountinfo").value_or(""))) {
    const std::vector<std::string> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string& type = *(dash + 1);
    const bool version_1 = type == "cgroup" && holds(*(dash + 3), controller);
    if (!version_1 && type != "cgroup2") continue;
    out.push_back({version_1 ? 1 : 2, unescaped(words[3]), unescaped(words[4])});
  }
  return out;
}

/// The process's group in the hierarchy, from /proc/self/cgroup ("id:controllers:path").
std::optional<std::string> group_of(const SystemFiles& files, std::string_view controller,
                                    int version) {
  for (const std::string& line : lines_of(files.read("/proc/self/cgroup").value_or(""))) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : holds(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

/// The group's path below the mount point: "" or "/a/b".
std::string below_mount(const std::string& group, const std::string& mounted_root) {
  const std::string root = mounted_root == "/" ? "" : mounted_root;
  if (group == "/" || group == root || !group.starts_with(root + "/")) return "";
  const std::string below = group.substr(root.size());
  return below.find("/..") == below.npos ? below : "";
}

/// A text that is not a number, such as "max", sets no limit.
std::optional<std::int64_t> number_in(const SystemFiles& files, const std::string& path) {
  const Captured<std::int64_t> value = files.read_integer(path);
  if (!value.known()) return std::nullopt;
  return value.value();
}

std::optional<CpuQuota> quota_of(const SystemFiles& files, const CgroupLevel& level) {
  std::optional<std::int64_t> quota;
  std::optional<std::int64_t> period;
  std::string file;
  if (level.version == 2) {
    file = level.folder + "/cpu.max";
    const std::vector<std::string> words = words_of(files.read(file).value_or(""));
    if (words.size() != 2) return std::nullopt;
    quota = parse_integer(words[0]).value_or(-1);
    period = parse_integer(words[1]).value_or(-1);
  } else {
    file = level.folder + "/cpu.cfs_quota_us";
    quota = number_in(files, file);
    period = number_in(files, level.folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return CpuQuota{.processors = static_cast<double>(*quota) / static_cast<double>(*period),
                  .file = file};
}

/// File pages of the group and its descendants; the kernel reclaims them before it kills processes.
std::int64_t file_cache(const SystemFiles& files, const CgroupLevel& level) {
  const std::string prefix = level.version == 1 ? "total_" : "";
  std::int64_t sum = 0;
  for (const std::string& line : lines_of(files.read(level.folder + "/memory.stat").value_or(""))) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() != 2) continue;
    if (words[0] == prefix + "active_file" || words[0] == prefix + "inactive_file") {
      sum += parse_integer(words[1]).value_or(0);
    }
  }
  return sum;
}

}  // namespace

std::vector<CgroupLevel> cgroup_levels(const SystemFiles& files, std::string_view controller) {
  std::vector<CgroupLevel> out;
  for (const Mount& mount : mounts_of(files, controller)) {
    const std::optional<std::string> group = group_of(files, controller, mount.version);
    if (!group) continue;
    std::string below = below_mount(*group, mount.root);
    if (!files.is_folder(mount.point + below)) below = "";
    while (true) {
      out.push_back({mount.version, mount.point + below});
      if (below.empty()) break;
      below.resize(below.rfind('/'));
    }
  }
  return out;
}

std::optional<CpuQuota> cgroup_cpu_quota(const SystemFiles& files) {
  std::optional<CpuQuota> smallest;
  for (const CgroupLevel& level : cgroup_levels(files, "cpu")) {
    const std::optional<CpuQuota> quota = quota_of(files, level);
    if (quota && (!smallest || quota->processors < smallest->processors)) smallest = quota;
  }
  return smallest;
}

results::Throttling cgroup_throttling(const SystemFiles& files) {
  const std::vector<CgroupLevel> levels = cgroup_levels(files, "cpu");
  const std::optional<CpuQuota> quota = cgroup_cpu_quota(files);
  for (const CgroupLevel& level : levels) {
    if (quota && !quota->file.starts_with(level.folder + "/")) continue;
    const std::string file = level.folder + "/cpu.stat";
    const Captured<std::string> text = files.read(file);
    if (!text.known()) return {.periods = Unknown{text.why()}, .time = Unknown{text.why()}};
    results::Throttling out{.periods = Unknown{file + " has no nr_throttled"},
                            .time = Unknown{file + " has no throttled_usec"}};
    for (const std::string& line : lines_of(text.value())) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() != 2) continue;
      const std::int64_t number = parse_integer(words[1]).value_or(0);
      if (words[0] == "nr_throttled") out.periods = number;
      if (words[0] == "throttled_usec") out.time = std::chrono::microseconds(number);
      if (words[0] == "throttled_time") out.time = std::chrono::nanoseconds(number);
    }
    return out;
  }
  const Unknown none{"no cgroup with a CPU controller is mounted"};
  return {.periods = none, .time = none};
}

results::Throttling throttled_between(const results::Throttling& before,
                                      const results::Throttling& after) {
  const auto between = [](const auto& then, const auto& now) {
    using Value = std::decay_t<decltype(now)>;
    if (!then.known()) return Value(Unknown{then.why()});
    if (!now.known()) return Value(Unknown{now.why()});
    return Value(now.value() - then.value());
  };
  return {.periods = between(before.periods, after.periods),
          .time = between(before.time, after.time)};
}

Captured<std::string> cgroup_cpuset(const SystemFiles& files) {
  for (const CgroupLevel& level : cgroup_levels(files, "cpuset")) {
    for (const char* name : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
      const Captured<std::string> list = files.read(level.folder + name);
      if (list.known() && !list.value().empty()) return list;
    }
  }
  return Unknown{"no cgroup with a cpuset controller is mounted"};
}

std::vector<CgroupMemory> cgroup_memory_limits(const SystemFiles& files) {
  // Version 1 writes "no limit" as the largest number of whole pages.
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;
  std::vector<CgroupMemory> out;
  for (const CgroupLevel& level : cgroup_levels(files, "memory")) {
    const bool version_1 = level.version == 1;
    const std::optional<std::int64_t> usage =
        number_in(files, level.folder + (version_1 ? "/memory.usage_in_bytes" : "/memory.current"));
    // Above memory.high the kernel slows a group down so much that a benchmark must stay below it.
    const std::vector<std::string> names =
        version_1 ? std::vector<std::string>{"/memory.limit_in_bytes"}
                  : std::vector<std::string>{"/memory.max", "/memory.high"};
    for (const std::string& name : names) {
      const std::optional<std::int64_t> limit = number_in(files, level.folder + name);
      if (!limit || *limit < 0 || *limit >= kNoLimit) continue;
      const std::int64_t used =
          std::max<std::int64_t>(usage.value_or(0) - file_cache(files, level), 0);
      out.push_back({.limit_bytes = *limit, .used_bytes = used, .file = level.folder + name});
    }
  }
  return out;
}

}  // namespace bench

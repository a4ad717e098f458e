#include "results/environment/storage.h"

#include <optional>

#include "models/base/errors.h"

namespace bench {
namespace {

struct MountLine {
  std::string number{};  ///< major:minor.
  std::string point{};
  results::Storage storage{};
};

/// proc(5): id parent major:minor root point options [optional...] - type source superoptions
std::optional<MountLine> parse_mount(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  constexpr std::size_t kNumber = 2;
  constexpr std::size_t kPoint = 4;
  constexpr std::size_t kOptions = 5;
  for (std::size_t i = kOptions + 1; i + 2 < words.size(); ++i) {
    if (words[i] != "-") continue;
    return MountLine{
        .number = words[kNumber],
        .point = words[kPoint],
        .storage = {
            .filesystem = words[i + 1], .device = words[i + 2], .mount_options = words[kOptions]}};
  }
  return std::nullopt;
}

bool holds_folder(const std::string& point, const std::string& folder) {
  return point == "/" || folder == point || folder.starts_with(point + "/");
}

/// The file with the disk's queue; a partition's disk is one folder up.
Captured<std::string> queue_file(const SystemFiles& files, const std::string& number,
                                 const char* name) {
  const std::string block = "/sys/dev/block/" + number;
  const Captured<std::string> own = files.read(fmt::format("{}/queue/{}", block, name));
  return own.known() ? own : files.read(fmt::format("{}/../queue/{}", block, name));
}

/// The choice in brackets: "none [mq-deadline]".
std::string chosen_of(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? text
             : text.substr(open + 1, close - open - 1);
}

}  // namespace

Captured<results::Storage> capture_storage(const SystemFiles& files, const std::string& folder) {
  const Captured<std::string> mounts = files.read("/proc/self/mountinfo");
  if (!mounts.known()) return Unknown{mounts.why()};
  std::optional<MountLine> nearest;
  for (const std::string& line : lines_of(mounts.value())) {
    std::optional<MountLine> mount = parse_mount(line);
    // The later one of two mounts at the same point is visible.
    if (mount && holds_folder(mount->point, folder) &&
        (!nearest || mount->point.size() >= nearest->point.size())) {
      nearest = std::move(mount);
    }
  }
  if (!nearest) return Unknown{fmt::format("/proc/self/mountinfo has no mount for {}", folder)};
  results::Storage storage = nearest->storage;
  const Captured<std::string> rotational = queue_file(files, nearest->number, "rotational");
  storage.rotational = rotational.known() ? Captured<bool>(rotational.value() == "1")
                                          : Captured<bool>(Unknown{rotational.why()});
  const Captured<std::string> scheduler = queue_file(files, nearest->number, "scheduler");
  storage.scheduler = scheduler.known() ? Captured<std::string>(chosen_of(scheduler.value()))
                                        : Captured<std::string>(Unknown{scheduler.why()});
  return storage;
}

}  // namespace bench

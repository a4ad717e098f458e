#include "bench/runs/process_stat.h"

#include <cstdlib>
#include <fstream>
#include <string>

namespace bench {

std::optional<ProcessStat> process_stat(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  // The name, in parentheses, may contain anything. The state and the parent follow.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= text.size()) {
    return std::nullopt;
  }
  return ProcessStat{.state = text[name_end + 2], .parent = std::atoi(text.c_str() + name_end + 4)};
}

}  // namespace bench

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/environment/system_files.h"
#include "results/record/conditions.h"

namespace bench {

/// The processor time of every visible process since it began.
struct ProcessTimes {
  struct One {
    std::string name{};
    std::int64_t ticks = 0;
  };
  std::map<std::int64_t, One> by_pid{};
};

/// Reads /proc, without this process and `omitted`; unknown if it cannot be read. Takes some
/// milliseconds.
Captured<ProcessTimes> read_process_times(const SystemFiles& files,
                                          const std::set<std::int64_t>& omitted = {});

/// The three processes that used most time between two readings, which are `elapsed` apart. Omits
/// processes below a hundredth of a processor. Counts all time of a process that began in between.
Captured<std::vector<results::BusyProcess>> busiest(const Captured<ProcessTimes>& before,
                                                    const Captured<ProcessTimes>& after,
                                                    std::chrono::nanoseconds elapsed);

}  // namespace bench

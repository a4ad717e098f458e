#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/host/system_files.h"
#include "results/conditions.h"

namespace bench {

/// How much every process that can be seen has computed since it began.
struct ProcessTimes {
  struct One {
    std::string name{};
    std::int64_t ticks = 0;
  };
  std::map<std::int64_t, One> by_pid{};
};

/// /proc, without this process; or why it cannot be read. Takes some milliseconds.
Captured<ProcessTimes> read_process_times(const SystemFiles& files);

/// The three that computed most between the two, `elapsed` apart, without those that took less than
/// a hundredth of a processor. One that began in between counts whole.
Captured<std::vector<results::BusyProcess>> busiest(const Captured<ProcessTimes>& before,
                                                    const Captured<ProcessTimes>& after,
                                                    std::chrono::nanoseconds elapsed);

}  // namespace bench

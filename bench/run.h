#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/flags.h"

namespace bench {

/// Where a run writes.
struct RunStreams {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
};

/// One whole run: from flags to the printed result and the record. Returns the exit status: 0, 1 for
/// a loss that is not finite, 128 + signal after an interrupt. Throws UsageError, DataError,
/// DeviceError and WriteError.
int run_benchmark(const ParseResult& parsed, const std::vector<std::string>& command_line,
                  const RunStreams& streams);

}  // namespace bench

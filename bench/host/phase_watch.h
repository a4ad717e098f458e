#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/host/clock.h"
#include "bench/host/progress.h"
#include "models/base/watch.h"

namespace bench {

/// The user ended the run, or its result has nowhere to go. what() says where it was: "while
/// planning", "after 3 measured steps".
class RunEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Watches what comes before and after the steps: shows how far a phase is when it takes more than
/// two seconds, and ends the run between two parts of it. Used by one thread.
class PhaseWatch {
 public:
  /// `end_asked` says whether the run is to end; `progress` and `clock` must outlive this.
  PhaseWatch(std::ostream& progress, const Clock& clock, Terminal terminal,
             std::function<bool()> end_asked);

  /// `done` of `total` units ("layer") of a phase ("planning") are over; total 0: nobody knows how
  /// many there are. Another phase than the last begins anew; the end of one, all its units, takes
  /// its line away. Throws RunEnded. Cheap enough for short parts.
  void tell(std::string_view phase, std::string_view unit, std::int64_t done, std::int64_t total);
  /// The same, where another phase may be under way, which then goes on: only the end is asked for.
  void tell_within(std::string_view phase, std::string_view unit, std::int64_t done,
                   std::int64_t total);
  /// tell() as a function; it must not outlive this.
  [[nodiscard]] Watch of(std::string phase, std::string unit);
  /// Throws RunEnded, which tells of the place ("before the check"), if the run is to end.
  void stop_if_asked(std::string_view place) const;
  /// Ends the phase and takes its line from a terminal, so that something else can be printed.
  void clear();

 private:
  std::function<bool()> end_asked_;
  Progress progress_;
  std::string phase_;
};

}  // namespace bench

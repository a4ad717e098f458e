#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench/terminal/progress.h"
#include "models/base/watch.h"
#include "results/environment/clock.h"

namespace bench {

/// The user ended the run, or its result cannot be written. what() gives the place: "while
/// planning", "after 3 measured steps".
class RunEnded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Watches the phases before and after the steps. It shows the progress of a phase that takes more
/// than two seconds, and ends the run between two parts of a phase. Used by one thread.
class PhaseWatch {
 public:
  /// `end_asked` returns true if the run is to end; `progress` and `clock` must outlive this.
  PhaseWatch(std::ostream& progress, const Clock& clock, Terminal terminal,
             std::function<bool()> end_asked);

  /// Reports that `done` of `total` units ("layer") of a phase ("planning") are complete; total 0:
  /// unknown. A different phase starts from the beginning; a complete phase removes its line.
  /// Throws RunEnded. Cheap enough for short parts.
  void tell(std::string_view phase, std::string_view unit, std::int64_t done, std::int64_t total);
  /// The same within another phase that may be running and then continues. In that case it only
  /// checks if the run is to end.
  void tell_within(std::string_view phase, std::string_view unit, std::int64_t done,
                   std::int64_t total);
  /// tell() as a function; it must not outlive this.
  [[nodiscard]] Watch of(std::string phase, std::string unit);
  /// Throws RunEnded with the place ("before the check") if the run is to end.
  void stop_if_asked(std::string_view place) const;
  /// Ends the phase and removes its line from a terminal, so that other text can be printed.
  void clear();

 private:
  std::function<bool()> end_asked_;
  Progress progress_;
  std::string phase_;
};

}  // namespace bench

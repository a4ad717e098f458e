#include "bench/terminal/phase_watch.h"

#include <utility>

#include "models/base/errors.h"

namespace bench {

PhaseWatch::PhaseWatch(std::ostream& progress, const Clock& clock, Terminal terminal,
                       std::function<bool()> end_asked)
    : end_asked_(std::move(end_asked)),
      progress_(progress, clock,
                {.terminal = std::move(terminal), .patience = std::chrono::seconds(2)}) {}

void PhaseWatch::tell(std::string_view phase, std::string_view unit, std::int64_t done,
                      std::int64_t total) {
  if (phase_ != phase) {
    clear();
    phase_ = phase;
    progress_.start(phase_, total, std::string(unit));
  }
  if (end_asked_()) {
    throw RunEnded(fmt::format("while {}", phase));
  }
  if (total > 0 && done == total) {
    clear();
  } else {
    progress_.update(done);
  }
}

void PhaseWatch::tell_within(std::string_view phase, std::string_view unit, std::int64_t done,
                             std::int64_t total) {
  if (phase_.empty() || phase_ == phase) {
    tell(phase, unit, done, total);
  } else if (end_asked_()) {
    throw RunEnded(fmt::format("while {}", phase_));
  }
}

Watch PhaseWatch::of(std::string phase, std::string unit) {
  return [this, phase = std::move(phase), unit = std::move(unit)](
             std::int64_t done, std::int64_t total) { tell(phase, unit, done, total); };
}

void PhaseWatch::stop_if_asked(std::string_view place) const {
  if (end_asked_()) {
    throw RunEnded(std::string(place));
  }
}

void PhaseWatch::clear() {
  progress_.clear();
  phase_.clear();
}

}  // namespace bench

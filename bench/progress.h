#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "bench/clock.h"

namespace bench {

/// How far a run is and how long it will take, for standard error. On a terminal one line that is
/// written over; elsewhere whole lines, few of them.
class Progress {
 public:
  struct Options {
    bool terminal = false;  ///< `out` is a terminal.
    /// Least time between two lines where `out` is no terminal.
    std::chrono::nanoseconds line_interval = std::chrono::seconds(10);
    /// Least time between two rewritings on a terminal.
    std::chrono::nanoseconds terminal_interval = std::chrono::milliseconds(200);
    /// The run ends this long after start(), if its steps are not done before.
    std::optional<std::chrono::nanoseconds> time_limit{};
  };

  /// `out` and `clock` must outlive this.
  Progress(std::ostream& out, const Clock& clock, Options options);
  /// Ends what is shown on a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a part of the run, such as "warm up", of `total` steps; the time left is that of this
  /// part.
  void start(std::string title, std::int64_t total);

  /// `done` steps of the part are over. Cheap enough to be called after every step.
  void update(std::int64_t done);

  /// Removes the line from a terminal, so that something else can be printed there; the next update
  /// brings it back. Nothing elsewhere.
  void clear();

 private:
  std::string time_left(std::int64_t done, std::chrono::nanoseconds elapsed) const;

  std::ostream& out_;
  const Clock& clock_;
  Options options_;
  std::string title_;
  std::int64_t total_ = 0;
  std::chrono::nanoseconds started_{};
  std::chrono::nanoseconds shown_{};
  bool line_is_up_ = false;
};

}  // namespace bench

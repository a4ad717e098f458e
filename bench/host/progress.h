#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "bench/host/clock.h"

namespace bench {

/// What progress is shown on.
struct Terminal {
  /// A line can be written over: a terminal, and one that knows how to erase.
  bool rewrites = false;
  /// Its width in columns, asked for each time a line is written, since windows change; empty, or 0
  /// from it: not known.
  std::function<std::size_t()> columns = {};
};
/// Of a descriptor, by TERM as the environment has it (null: unset).
Terminal terminal_at(int descriptor, const char* term);

/// Back to the first column, and erase from there to the end of the line (ECMA-48).
inline constexpr const char* kEraseLine = "\r\x1b[K";

/// How far a run is and how long it will take, for standard error. On a terminal one line that is
/// written over, cut to the width; elsewhere whole lines, few of them.
class Progress {
 public:
  struct Options {
    Terminal terminal = {};  ///< What `out` leads to.
    /// Least time between two lines where `out` is no terminal.
    std::chrono::nanoseconds line_interval = std::chrono::seconds(10);
    /// Least time between two rewritings on a terminal.
    std::chrono::nanoseconds terminal_interval = std::chrono::milliseconds(200);
    /// A part of the run that takes no longer is not shown; unset: one interval.
    std::optional<std::chrono::nanoseconds> patience{};
    /// The run ends this long after start(), if its steps are not done before.
    std::optional<std::chrono::nanoseconds> time_limit{};
  };

  /// `out` and `clock` must outlive this.
  Progress(std::ostream& out, const Clock& clock, Options options);
  /// Ends what is shown on a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a part of the run, such as "warm up", of `total` units ("step"), or of nobody knows how
  /// many (0); the time left is that of this part.
  void start(std::string title, std::int64_t total, std::string unit = "step");

  /// `done` units of the part are over. Cheap enough to be called after every step.
  void update(std::int64_t done);

  /// Removes the line from a terminal, so that something else can be printed there; the next update
  /// brings it back. Nothing elsewhere.
  void clear();

 private:
  [[nodiscard]] bool due(std::chrono::nanoseconds now) const;
  [[nodiscard]] std::string text(std::int64_t done, std::chrono::nanoseconds elapsed) const;
  std::string time_left(std::int64_t done, std::chrono::nanoseconds elapsed) const;

  std::ostream& out_;
  const Clock& clock_;
  Options options_;
  std::string title_;
  std::string unit_;
  std::int64_t total_ = 0;
  std::chrono::nanoseconds started_{};
  std::optional<std::chrono::nanoseconds> shown_{};
  bool line_is_up_ = false;
};

}  // namespace bench

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "results/environment/clock.h"

namespace bench {

/// The terminal or file that shows progress.
struct Terminal {
  /// Lines can be overwritten: it is a terminal that supports erasing.
  bool rewrites = false;
  /// The width in columns, queried for each line because windows change; empty, or a result of 0:
  /// unknown.
  std::function<std::size_t()> columns = {};
};
/// Describes a descriptor, given the value of TERM in the environment (null: unset).
Terminal terminal_at(int descriptor, const char* term);

/// Moves to the first column and erases to the end of the line (ECMA-48).
inline constexpr const char* kEraseLine = "\r\x1b[K";

/// Shows the progress of a run and the remaining time on stderr. On a terminal it rewrites one
/// line, cut to the width; elsewhere it prints whole lines, few of them.
class Progress {
 public:
  struct Options {
    Terminal terminal = {};  ///< The destination of `out`.
    /// The least time between two lines if `out` is not a terminal.
    std::chrono::nanoseconds line_interval = std::chrono::seconds(10);
    /// The least time between two updates of a line on a terminal.
    std::chrono::nanoseconds terminal_interval = std::chrono::milliseconds(200);
    /// Parts of the run that take no longer are not shown; unset: one interval.
    std::optional<std::chrono::nanoseconds> patience{};
    /// The run ends this long after start(), unless its steps are done before.
    std::optional<std::chrono::nanoseconds> time_limit{};
  };

  /// `out` and `clock` must outlive this.
  Progress(std::ostream& out, const Clock& clock, Options options);
  /// Ends the line on a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a part of the run, such as "warm up", of `total` units ("step"); 0: unknown. The
  /// remaining time is that of this part.
  void start(std::string title, std::int64_t total, std::string unit = "step");

  /// Reports that `done` units of the part are complete. Cheap enough to call after every step.
  void update(std::int64_t done);

  /// Removes the line from a terminal, so that other text can be printed; the next update shows it
  /// again. Does nothing elsewhere.
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

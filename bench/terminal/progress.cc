#include "bench/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::chrono::hours kLongestLeft(365 * 24);

/// 1:02:03 or 2:03, rounded up, so that no time is "0:00".
std::string clock_text(std::chrono::nanoseconds time) {
  const auto total = static_cast<long long>(std::chrono::ceil<std::chrono::seconds>(time).count());
  std::array<char, 32> text{};
  if (total >= 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", total / 3600, total / 60 % 60,
                  total % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld:%02lld", total / 60, total % 60);
  }
  return text.data();
}

}  // namespace

Terminal terminal_at(int descriptor, const char* term) {
  const bool erases = term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  return {.rewrites = erases && isatty(descriptor) != 0, .columns = [descriptor]() -> std::size_t {
            winsize window{};
            return ioctl(descriptor, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
          }};
}

Progress::Progress(std::ostream& out, const Clock& clock, Options options)
    : out_(out), clock_(clock), options_(std::move(options)) {}

Progress::~Progress() { clear(); }

void Progress::start(std::string title, std::int64_t total, std::string unit) {
  title_ = std::move(title);
  unit_ = std::move(unit);
  total_ = total;
  started_ = clock_.now();
  shown_.reset();
}

bool Progress::due(std::chrono::nanoseconds now) const {
  const auto interval =
      options_.terminal.rewrites ? options_.terminal_interval : options_.line_interval;
  return shown_ ? now - *shown_ >= interval
                : now - started_ >= options_.patience.value_or(interval);
}

std::string Progress::text(std::int64_t done, std::chrono::nanoseconds elapsed) const {
  if (total_ != 0) {
    return fmt::format("{}: {} {} of {}{}", title_, unit_, done, total_, time_left(done, elapsed));
  }
  return done == 1 ? fmt::format("{}: {} {}", title_, done, unit_)
                   : fmt::format("{}: {} {}s", title_, done, unit_);
}

void Progress::update(std::int64_t done) {
  const auto now = clock_.now();
  if (!due(now)) return;
  shown_ = now;
  std::string line = text(done, now - started_);
  if (options_.terminal.rewrites) {
    const std::size_t columns = options_.terminal.columns ? options_.terminal.columns() : 0;
    // Many terminals start the next line after a character in the last column.
    if (columns > 0) line.resize(std::min(line.size(), columns - 1));
    out_ << kEraseLine << line << std::flush;
    line_is_up_ = true;
  } else {
    out_ << line << std::endl;
  }
}

void Progress::clear() {
  if (!line_is_up_) return;
  out_ << kEraseLine << std::flush;
  line_is_up_ = false;
}

std::string Progress::time_left(std::int64_t done, std::chrono::nanoseconds elapsed) const {
  std::optional<std::chrono::nanoseconds> left;
  if (done > 0) {
    const double per_step =
        std::chrono::duration<double>(elapsed).count() / static_cast<double>(done);
    const double steps = static_cast<double>(std::max<std::int64_t>(total_ - done, 0));
    const std::chrono::duration<double> time(per_step * steps);
    if (time < kLongestLeft) {  // A longer time may overflow nanoseconds.
      left = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    } else if (!options_.time_limit) {
      return ", more than a year left";
    }
  }
  if (options_.time_limit) {
    const auto until = std::max(*options_.time_limit - elapsed, std::chrono::nanoseconds(0));
    left = left ? std::min(*left, until) : until;
  }
  return left ? fmt::format(", {} left", clock_text(*left)) : "";
}

}  // namespace bench

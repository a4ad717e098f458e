#include "bench/progress.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

// Back to the first column, and erase from there to the end of the line (ECMA-48).
constexpr const char* kEraseLine = "\r\x1b[K";
constexpr std::chrono::hours kLongestLeft(365 * 24);

/// 1:02:03 or 2:03, rounded up, so that nothing takes "0:00".
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

Progress::Progress(std::ostream& out, const Clock& clock, Options options)
    : out_(out), clock_(clock), options_(options) {}

Progress::~Progress() { clear(); }

void Progress::start(std::string title, std::int64_t total) {
  title_ = std::move(title);
  total_ = total;
  started_ = clock_.now();
  shown_ = started_;
}

void Progress::update(std::int64_t done) {
  const auto now = clock_.now();
  const auto interval = options_.terminal ? options_.terminal_interval : options_.line_interval;
  if (now - shown_ < interval) return;
  shown_ = now;
  const std::string text =
      cat(title_, ": step ", done, " of ", total_, time_left(done, now - started_));
  if (options_.terminal) {
    out_ << kEraseLine << text << std::flush;
    line_is_up_ = true;
  } else {
    out_ << text << std::endl;
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
    if (time < kLongestLeft) {  // What is longer may be more than nanoseconds can count.
      left = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    } else if (!options_.time_limit) {
      return ", more than a year left";
    }
  }
  if (options_.time_limit) {
    const auto until = std::max(*options_.time_limit - elapsed, std::chrono::nanoseconds(0));
    left = left ? std::min(*left, until) : until;
  }
  return left ? cat(", ", clock_text(*left), " left") : "";
}

}  // namespace bench

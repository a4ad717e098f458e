#include "results/formats/utc_time.h"

#include <charconv>
#include <chrono>

namespace bench::results {
namespace {

/// Removes numbers and single characters from the front of a text.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    if (text_.size() < count) {
      failed_ = true;
      return 0;
    }
    const char* end = text_.data() + count;
    const auto read = std::from_chars(text_.data(), end, value);
    failed_ = failed_ || read.ec != std::errc() || read.ptr != end || value < 0;
    text_.remove_prefix(count);
    return value;
  }

  bool take(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  void need(std::string_view any_of) { failed_ = !take(any_of) || failed_; }

  /// Milliseconds from the decimals after a point.
  int decimals() {
    int milliseconds = 0;
    int weight = 100;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      milliseconds += weight * (text_.front() - '0');
      weight /= 10;
      text_.remove_prefix(1);
    }
    return milliseconds;
  }

  /// Minutes east of Greenwich.
  int offset() {
    if (take("Z") || text_.empty()) return 0;
    const bool west = text_.front() == '-';
    need("+-");
    const int hours = digits(2);
    take(":");
    const int minutes = 60 * hours + digits(2);
    return west ? -minutes : minutes;
  }

  [[nodiscard]] bool done() const { return !failed_ && text_.empty(); }

 private:
  std::string_view text_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::int64_t> utc_ms(std::string_view text) {
  using namespace std::chrono;
  TimeReader reader(text);
  const int y = reader.digits(4);
  reader.need("-/");
  const int m = reader.digits(2);
  reader.need("-/");
  const int d = reader.digits(2);
  reader.need("T ");
  const int h = reader.digits(2);
  reader.need(":");
  const int min = reader.digits(2);
  reader.need(":");
  const int s = reader.digits(2);
  const int ms = reader.take(".") ? reader.decimals() : 0;
  const int offset = reader.offset();
  const year_month_day date(year(y), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d)));
  if (!reader.done() || !date.ok() || h > 23 || min > 59 || s > 60) return std::nullopt;
  const auto time = sys_days(date) + hours(h) + minutes(min - offset) + seconds(s);
  return duration_cast<milliseconds>(time.time_since_epoch()).count() + ms;
}

}  // namespace bench::results

#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A distribution of numbers, in the buckets of TensorFlow's histograms: limits +-1e-12 * 1.1^k up
/// to 1e20, with 0 and the largest double.
class EventHistogram {
 public:
  /// Numbers that are not finite are ignored.
  void add(double number);
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// A serialized tensorflow.HistogramProto.
  [[nodiscard]] std::string serialize() const;

 private:
  std::vector<double> buckets_;
  std::int64_t count_ = 0;
  double least_ = 0;
  double largest_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

/// The values of one step: a serialized tensorflow.Summary.
class EventSummary {
 public:
  EventSummary& scalar(std::string_view tag, double value);
  EventSummary& histogram(std::string_view tag, const EventHistogram& histogram);
  [[nodiscard]] const std::string& serialize() const { return values_; }

 private:
  std::string values_;
};

/// A file that TensorBoard reads while it grows: TFRecords of tensorflow.Event.
class EventFile {
 public:
  /// Creates `folder`/events.out.tfevents.SECONDS.HOST, where the time is that of its creation in
  /// UTC, and the folder. Throws WriteError.
  explicit EventFile(const std::string& folder);

  /// Appends values with the current time. Waits for the system to accept them, not for the disk.
  /// Throws WriteError.
  void write(std::int64_t step, const EventSummary& summary);
  enum class Session : std::uint8_t { start = 1, stop = 2 };
  /// Marks the beginning or the end of a run.
  void write(std::int64_t step, Session session);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(std::int64_t step, int field, std::string_view value);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace bench

#include "pipeline/formats/event_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "models/base/errors.h"
#include "pipeline/formats/tfrecord_writer.h"

namespace bench {
namespace {

using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

/// Appends fields of a message in the wire format of protocol buffers.
class Message {
 public:
  explicit Message(std::string& out) : stream_(&out), coded_(&stream_) {}

  void integer(int field, std::int64_t value) {
    tag(field, kVarint);
    coded_.WriteVarint64(static_cast<std::uint64_t>(value));
  }
  void number(int field, double value) {
    tag(field, kFixed64);
    coded_.WriteLittleEndian64(std::bit_cast<std::uint64_t>(value));
  }
  void narrow_number(int field, float value) {
    tag(field, kFixed32);
    coded_.WriteLittleEndian32(std::bit_cast<std::uint32_t>(value));
  }
  void text(int field, std::string_view value) {
    tag(field, kLength);
    coded_.WriteVarint64(value.size());
    coded_.WriteRaw(value.data(), static_cast<int>(value.size()));
  }
  void numbers(int field, std::span<const double> values) {
    tag(field, kLength);
    coded_.WriteVarint64(values.size_bytes());
    for (const double value : values) {
      coded_.WriteLittleEndian64(std::bit_cast<std::uint64_t>(value));
    }
  }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kFixed64 = 1;
  static constexpr std::uint32_t kLength = 2;
  static constexpr std::uint32_t kFixed32 = 5;

  void tag(int field, std::uint32_t kind) {
    coded_.WriteTag(static_cast<std::uint32_t>(field) << 3U | kind);
  }

  StringOutputStream stream_;
  CodedOutputStream coded_;
};

/// The upper limits of the buckets.
const std::vector<double>& bucket_limits() {
  static const std::vector<double> kLimits = [] {
    std::vector<double> positive;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) {
      positive.push_back(limit);
    }
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    std::transform(positive.rbegin(), positive.rend(), std::back_inserter(all), std::negate<>());
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return kLimits;
}

// The fields of the messages, from TensorFlow's event.proto and summary.proto.
constexpr int kEventWallTime = 1;
constexpr int kEventStep = 2;
constexpr int kEventFileVersion = 3;
constexpr int kEventSummary = 5;
constexpr int kEventSessionLog = 7;
constexpr int kSessionStatus = 1;
constexpr int kSummaryValue = 1;
constexpr int kValueTag = 1;
constexpr int kValueSimple = 2;
constexpr int kValueHistogram = 5;
constexpr int kHistogramMin = 1;
constexpr int kHistogramMax = 2;
constexpr int kHistogramNum = 3;
constexpr int kHistogramSum = 4;
constexpr int kHistogramSumSquares = 5;
constexpr int kHistogramBucketLimit = 6;
constexpr int kHistogramBucket = 7;

}  // namespace

void EventHistogram::add(double number) {
  if (!std::isfinite(number)) {
    return;
  }
  const std::vector<double>& limits = bucket_limits();
  buckets_.resize(limits.size());
  const auto bucket = std::ranges::upper_bound(limits, number) - limits.begin();
  ++buckets_[std::min(static_cast<std::size_t>(bucket), limits.size() - 1)];
  least_ = count_ == 0 ? number : std::min(least_, number);
  largest_ = count_ == 0 ? number : std::max(largest_, number);
  ++count_;
  sum_ += number;
  squares_ += number * number;
}

std::string EventHistogram::serialize() const {
  // Adjacent empty buckets become one.
  std::vector<double> limits;
  std::vector<double> counts;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i] == 0 && !counts.empty() && counts.back() == 0) {
      limits.back() = bucket_limits()[i];
    } else {
      limits.push_back(bucket_limits()[i]);
      counts.push_back(buckets_[i]);
    }
  }
  std::string out;
  {
    Message message(out);
    message.number(kHistogramMin, least_);
    message.number(kHistogramMax, largest_);
    message.number(kHistogramNum, static_cast<double>(count_));
    message.number(kHistogramSum, sum_);
    message.number(kHistogramSumSquares, squares_);
    message.numbers(kHistogramBucketLimit, limits);
    message.numbers(kHistogramBucket, counts);
  }
  return out;
}

EventSummary& EventSummary::scalar(std::string_view tag, double value) {
  std::string entry;
  {
    Message message(entry);
    message.text(kValueTag, tag);
    message.narrow_number(kValueSimple, static_cast<float>(value));
  }
  Message(values_).text(kSummaryValue, entry);
  return *this;
}

EventSummary& EventSummary::histogram(std::string_view tag, const EventHistogram& histogram) {
  std::string entry;
  {
    Message message(entry);
    message.text(kValueTag, tag);
    message.text(kValueHistogram, histogram.serialize());
  }
  Message(values_).text(kSummaryValue, entry);
  return *this;
}

EventFile::EventFile(const std::string& folder) {
  std::string host(HOST_NAME_MAX + 1, '\0');
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host = "localhost";
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  path_ = fmt::format("{}/events.out.tfevents.{}.{}", folder,
                      std::chrono::duration_cast<std::chrono::seconds>(now).count(), host.c_str());
  std::error_code ignored;  // opening the file reports it
  std::filesystem::create_directories(folder, ignored);
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (file_ == nullptr) {
    throw WriteError(
        fmt::format("cannot write the event file '{}': {}", path_, std::strerror(errno)));
  }
  append(0, kEventFileVersion, "brain.Event:2");
}

void EventFile::write(std::int64_t step, const EventSummary& summary) {
  append(step, kEventSummary, summary.serialize());
}

void EventFile::write(std::int64_t step, Session session) {
  std::string log;
  Message(log).integer(kSessionStatus, static_cast<std::int64_t>(session));
  append(step, kEventSessionLog, log);
}

void EventFile::append(std::int64_t step, int field, std::string_view value) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::string event;
  {
    Message message(event);
    message.number(kEventWallTime, std::chrono::duration<double>(now).count());
    message.integer(kEventStep, step);
    message.text(field, value);
  }
  const std::string framed = frame_tfrecord(event);
  if (std::fwrite(framed.data(), 1, framed.size(), file_.get()) != framed.size() ||
      std::fflush(file_.get()) != 0) {
    throw WriteError(
        fmt::format("cannot write the event file '{}': {}", path_, std::strerror(errno)));
  }
}

}  // namespace bench

#include "pipeline/input_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Up to this share of waits, the device is the bound. (TensorFlow's profiler: 5 %.)
constexpr double kToleratedWait = 0.05;
/// The bound works at least this share of the time.
constexpr double kBusy = 0.7;
/// The input slows a device on the same processors if it uses more than this share of them.
constexpr double kRelevantShare = 0.1;
/// The quota matters if it stops the process for this share of the processors' time or more.
constexpr double kThrottled = 0.1;
/// Threads that wait longer than this share of their work lack processors.
constexpr double kDelayed = 0.25;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// The share of the interval in which the threads worked, 0 to 1.
double busy_share(const ThreadTimes& times, int threads, double wall) {
  const double work = seconds(std::max(times.work, times.processor));
  return std::min(ratio(work, threads * wall), 1.0);
}

/// The reading thread's times. Readers work at the same time, so each adds its share.
ThreadTimes with_readers(const InputStatistics& done) {
  ThreadTimes times = done.reading;
  times.processor += done.readers_work.processor / done.readers;
  times.delayed += done.readers_work.delayed / done.readers;
  return times;
}

/// The delays within the work. Others ended a wait.
double delays(const ThreadTimes& times) {
  return std::min(seconds(times.delayed), std::max(seconds(times.work - times.processor), 0.0));
}

bool lacks_processors(const ThreadTimes& times) {
  return ratio(delays(times), seconds(times.work)) > kDelayed;
}

/// The share of the processors' time in which the quota stopped the process.
double throttled_share(const InputInterval& interval) {
  return ratio(seconds(interval.throttled), interval.processors * seconds(interval.wall));
}

/// The device's speed without waits and without competition for processors.
double device_speed(const InputInterval& interval, double processors_of_input) {
  const double wall = seconds(interval.wall);
  double busy = wall - seconds(interval.waited);
  if (interval.shares_processors && interval.done.process.count() > 0) {
    const double of_input = processors_of_input * wall;
    const double own = seconds(interval.done.process) - of_input;
    // The device's threads need at least their processor time. The input can have delayed them by
    // its own at most.
    busy = std::min(
        busy, std::max(own, busy * interval.device_threads - of_input) / interval.device_threads);
  }
  return static_cast<double>(interval.images) / std::max(busy, 1e-3 * wall);
}

/// True if the device idles while images are copied.
bool copies_limit(const InputInterval& interval) {
  const double wall = seconds(interval.wall);
  return interval.computed.count() > 0 && seconds(interval.copied) >= kBusy * wall &&
         seconds(interval.computed + interval.waited) < (1 - kToleratedWait) * wall;
}

/// The processor time of the input as a share of that of all processors.
double share_of_processors(const InputVerdict& verdict, const InputInterval& interval) {
  return verdict.processors_used / interval.processors;
}

/// The slowest part of the preparing threads.
InputBound slowest_stage(const InputStatistics& done) {
  const std::array stages = {std::pair(done.parse_busy, InputBound::parse),
                             std::pair(done.decode_busy, InputBound::decode),
                             std::pair(done.resize_busy, InputBound::resize)};
  return std::max_element(stages.begin(), stages.end())->second;
}

InputBound bound_of_preparing(const InputVerdict& verdict, const InputInterval& interval) {
  const InputStatistics& done = interval.done;
  // If the input itself has the processors, more of them are needed.
  if (lacks_processors(done.preparing) && share_of_processors(verdict, interval) < kBusy) {
    return InputBound::processors;
  }
  return slowest_stage(done);
}

InputBound bound_of_reading(const ThreadTimes& reading) {
  if (lacks_processors(reading)) {
    return InputBound::processors;
  }
  // The rest of the work is waits for storage.
  return ratio(seconds(reading.processor), seconds(reading.work)) > 0.5 ? InputBound::reading
                                                                        : InputBound::storage;
}

InputBound bound_of(const InputVerdict& verdict, const InputInterval& interval) {
  const InputStatistics& done = interval.done;
  if (throttled_share(interval) >= kThrottled) {
    return InputBound::quota;
  }
  if (copies_limit(interval)) {
    return InputBound::copy;
  }
  if (verdict.waited < kToleratedWait) {
    return interval.shares_processors && share_of_processors(verdict, interval) > kRelevantShare
               ? InputBound::processors
               : InputBound::device;
  }
  if (std::max(verdict.reading_busy, verdict.preparing_busy) < kBusy) {
    const double delayed = seconds(with_readers(done).delayed + done.preparing.delayed);
    return ratio(delayed, seconds(interval.wall)) > kDelayed ? InputBound::processors
                                                             : InputBound::unclear;
  }
  return verdict.preparing_busy >= verdict.reading_busy ? bound_of_preparing(verdict, interval)
                                                        : bound_of_reading(with_readers(done));
}

std::string count_of(double images_per_second) {
  return fmt::format("{:.{}f}", images_per_second, images_per_second < 100 ? 1 : 0);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string threads_text(int threads) {
  return threads == 1 ? "1 thread" : fmt::format("{} threads", threads);
}

/// What the slowest part of the preparing threads does.
std::string_view work_of(InputBound bound) {
  switch (bound) {
    case InputBound::parse:
      return "checking and parsing records";
    case InputBound::decode:
      return "decoding JPEGs";
    default:
      return "resizing images";
  }
}

double share_of(InputBound bound, const InputStatistics& done) {
  const std::chrono::nanoseconds part = bound == InputBound::parse    ? done.parse_busy
                                        : bound == InputBound::decode ? done.decode_busy
                                                                      : done.resize_busy;
  return ratio(seconds(part), seconds(done.parse_busy + done.decode_busy + done.resize_busy));
}

std::string processors_text(double count) {
  return count == 1 ? "1 processor" : fmt::format("{:g} processors", count);
}

std::string remedy(const InputVerdict& verdict, const InputInterval& interval) {
  const double needed = std::ceil(verdict.processors_needed);
  if (!interval.shares_processors && needed > interval.done.threads &&
      needed <= interval.processors) {
    return fmt::format("--datasets_num_private_threads={} would suffice", needed);
  }
  return fmt::format("that needs about {}{}, and this process may use {}", processors_text(needed),
                     interval.shares_processors ? " for the input" : "", interval.processors);
}

/// True if most images could be rewritten as seekable JPEGs, but are not, and that would help.
bool should_be_seekable(const InputInterval& interval) {
  const InputStatistics& done = interval.done;
  return interval.crops_first &&
         2 * (done.seekable_images + done.grey_images + done.cmyk_images) < done.images_prepared;
}

/// The sentence if neither the input nor the device has enough processors.
std::string describe_processors(const InputVerdict& verdict, const InputInterval& interval,
                                std::string_view gain) {
  const std::string speed =
      fmt::format("{} {}/sec", count_of(verdict.images_per_second), interval.unit);
  // A device that mostly waits does not compete.
  if (interval.shares_processors && verdict.waited < 0.5) {
    return fmt::format(
        "input and device share {}; the input used {:.1f} of them, mostly for {}; this limits the "
        "run to {}; {}",
        processors_text(interval.processors), verdict.processors_used,
        work_of(slowest_stage(interval.done)), speed, gain);
  }
  return fmt::format(
      "the input threads were ready to run, but other programs used the processors; this limits "
      "the run to {}",
      speed);
}

}  // namespace

std::string_view name_of(InputBound bound) {
  switch (bound) {
    case InputBound::device:
      return "device";
    case InputBound::copy:
      return "copy";
    case InputBound::parse:
      return "parse";
    case InputBound::decode:
      return "decode";
    case InputBound::resize:
      return "resize";
    case InputBound::reading:
      return "reading";
    case InputBound::storage:
      return "storage";
    case InputBound::processors:
      return "processors";
    case InputBound::quota:
      return "quota";
    case InputBound::unclear:
      break;
  }
  return "unclear";
}

InputVerdict judge_input(const InputInterval& interval) {
  const InputStatistics& done = interval.done;
  const double wall = seconds(interval.wall);
  const auto images = static_cast<double>(interval.images);
  check(wall > 0 && images > 0, "an interval without images or time cannot be judged");
  const auto prepared = static_cast<double>(done.images_prepared);
  const double preparing = seconds(done.preparing.work) - delays(done.preparing);
  InputVerdict verdict{
      .images_per_second = images / wall,
      .input_images_per_second = ratio(done.threads * prepared, preparing),
      .reading_busy = busy_share(with_readers(done), 1, wall),
      .preparing_busy = busy_share(done.preparing, done.threads, wall),
      .processors_used =
          seconds(done.reading.processor + done.readers_work.processor + done.preparing.processor) /
          wall,
      .waited = std::min(seconds(interval.waited) / wall, 1.0)};
  verdict.device_images_per_second = device_speed(interval, verdict.processors_used);
  verdict.processors_needed =
      ratio(seconds(done.preparing.processor), prepared) * verdict.device_images_per_second;
  verdict.bound = bound_of(verdict, interval);
  if (verdict.bound == InputBound::copy) {
    verdict.device_images_per_second = images / seconds(interval.computed);
  }
  return verdict;
}

std::string describe(const InputVerdict& verdict, const InputInterval& interval) {
  const std::string speed =
      fmt::format("{} {}/sec", count_of(verdict.images_per_second), interval.unit);
  const std::string gain =
      fmt::format("without {}, the device {} {} ({:+.0f} %)",
                  verdict.bound == InputBound::processors ? "the input" : "it",
                  interval.shares_processors ? "could process up to" : "would process",
                  count_of(verdict.device_images_per_second),
                  100 * (verdict.device_images_per_second / verdict.images_per_second - 1));
  switch (verdict.bound) {
    case InputBound::device:
      return fmt::format("the device is the limit: it processes {} {}/sec",
                         count_of(verdict.device_images_per_second), interval.unit) +
             (verdict.input_images_per_second > 0
                  ? fmt::format(", and {} can prepare {}", threads_text(interval.done.threads),
                                count_of(verdict.input_images_per_second))
                  : "");
    case InputBound::copy:
      return fmt::format(
          "copying {} to the device ({:.0f} MB/s) limits this run to {}; {}{}", interval.unit,
          static_cast<double>(interval.copied_bytes) / 1e6 / seconds(interval.copied), speed, gain,
          interval.sends_floats ? "; --input_transfer=uint8 sends a quarter of the bytes" : "");
    case InputBound::parse:
    case InputBound::decode:
    case InputBound::resize:
      return fmt::format("{} ({} of the work of {}) limits this run to {}; {}; {}{}",
                         work_of(verdict.bound), percent(share_of(verdict.bound, interval.done)),
                         threads_text(interval.done.threads), speed, gain,
                         remedy(verdict, interval),
                         verdict.bound == InputBound::decode && should_be_seekable(interval)
                             ? "; seekable JPEGs decode faster (make_tfrecords --seekable)"
                             : "");
    case InputBound::reading:
      return fmt::format("the reading thread is busy {} of the time and limits this run to {}; {}",
                         percent(verdict.reading_busy), speed, gain);
    case InputBound::storage:
      return fmt::format(
          "the storage delivers {:.0f} MB/s and limits this run to {}; {}",
          static_cast<double>(interval.done.record_bytes) / 1e6 / seconds(interval.wall), speed,
          gain);
    case InputBound::processors:
      return describe_processors(verdict, interval, gain);
    case InputBound::quota:
      return fmt::format(
          "the cgroup's CPU quota throttled this process for {} of the time of {}; this limits "
          "the run to {}; raise the quota",
          percent(throttled_share(interval)), processors_text(interval.processors), speed);
    case InputBound::unclear:
      break;
  }
  if (interval.done.threads == 0) {
    return fmt::format(
        "the device waited {} of the time for batches, which are prepared without separate threads",
        percent(verdict.waited));
  }
  if (verdict.reading_busy + verdict.preparing_busy == 0) {
    return "inconclusive: the measured steps were too few; measure more";
  }
  return fmt::format(
      "inconclusive: the device waited {} of the time, but the reading thread was busy only {} and "
      "the preparing threads {}; measure more steps",
      percent(verdict.waited), percent(verdict.reading_busy), percent(verdict.preparing_busy));
}

}  // namespace bench

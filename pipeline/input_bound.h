#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "pipeline/input.h"

namespace bench {

/// What limits the speed of a run.
enum class InputBound {
  device,      ///< The device: it hardly waits for images.
  copy,        ///< Copies of images to the device, which otherwise idles.
  parse,       ///< The threads that prepare images, which mostly check and parse records.
  decode,      ///< The same threads, which mostly decode JPEGs.
  resize,      ///< The same threads, which mostly resize.
  reading,     ///< The processor time of the reading thread.
  storage,     ///< The reading thread waits for the storage.
  processors,  ///< Processors: the device or other programs have them.
  quota,       ///< The control group's quota of processor time.
  unclear,     ///< The device waits although the input's threads have time.
};
std::string_view name_of(InputBound bound);

/// An interval of a run.
struct InputInterval {
  /// What the input did in it.
  InputStatistics done;
  /// The images that the device processed, and what their plural is called.
  std::int64_t images = 0;
  std::string unit = "images";
  std::chrono::nanoseconds wall{};
  /// The time in which the device waited for images.
  std::chrono::nanoseconds waited{};
  /// On the device's clock, if it has its own memory: how long it computed, and how long images
  /// were copied to it.
  std::chrono::nanoseconds computed{};
  std::chrono::nanoseconds copied{};
  std::uint64_t copied_bytes = 0;
  bool sends_floats = false;
  /// The processors that this process may use.
  int processors = 1;
  /// The device computes on the same processors, with this number of threads.
  bool shares_processors = false;
  int device_threads = 1;
  /// How long the control group's quota stopped the process, summed over the processors.
  std::chrono::nanoseconds throttled{};
  /// Images are cropped before they are decoded.
  bool crops_first = true;
};

struct InputVerdict {
  InputBound bound = InputBound::device;
  double images_per_second = 0;
  /// The device's speed without waits for images and copies. If it shares processors with the
  /// input, the speed if all its threads always had one.
  double device_images_per_second = 0;
  /// The speed at which the threads of the input prepare images without waits; 0: the interval was
  /// too short to measure it.
  double input_images_per_second = 0;
  /// The shares of the interval in which the reading thread and the preparing threads worked, 0 to
  /// 1.
  double reading_busy = 0;
  double preparing_busy = 0;
  /// The processors that the input used on average.
  double processors_used = 0;
  /// The processors that preparing images at the device's speed needs.
  double processors_needed = 0;
  /// The share of the device's waits, 0 to 1.
  double waited = 0;
};

/// Finds the bound. The interval must not be empty. It is the quota if that took a tenth of the
/// processors' time or more. Otherwise, it is the copies if they took at least 70 % of the time
/// while the device idled for more than 5 %. Otherwise, it is the device if that waited less than
/// 5 % of the time. If the input also used more than a tenth of the device's processors, it is the
/// processors instead. Otherwise, it is the busier part of the input, if that worked at least 70 %
/// of the time.
InputVerdict judge_input(const InputInterval& interval);

/// One sentence: what limits the run, why, and what removing the limit would give.
std::string describe(const InputVerdict& verdict, const InputInterval& interval);

}  // namespace bench

#pragma once

#include <array>
#include <optional>
#include <string>

#include "results/record/captured.h"

/// The driver's library with facts about GPUs, as far as it is used here. Names, numbers and
/// layouts are those of its header, which no package of the toolkit contains.
namespace bench::nvml {

inline constexpr const char* kLibrary = "libnvidia-ml.so.1";

/// Identifies a card in calls.
using Device = struct DeviceHandle*;

enum ClockType : unsigned { kGraphicsClock = 0, kSmClock = 1, kMemoryClock = 2 };
enum TemperatureSensor : unsigned { kGpuSensor = 0 };
enum EccErrorType : unsigned { kCorrected = 0, kUncorrected = 1 };
enum EccCounter : unsigned { kSinceDriverLoad = 0 };
enum PerformancePolicy : unsigned { kPower = 0, kThermal = 1 };

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
/// Percent.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct ViolationTime {
  unsigned long long reference_us;
  unsigned long long violation_ns;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
/// Represents a number that the driver does not know.
inline constexpr unsigned long long kNotAvailable = ~0ULL;

inline constexpr int kSuccess = 0;
inline constexpr int kInsufficientSize = 7;

/// The library, opened at run time. Any function may be missing, and any call may be unsupported or
/// not permitted; the value is then unknown. Several threads may call it.
class Library {
 public:
  explicit Library(const std::string& path = kLibrary);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Why the library is unusable; empty if it is usable.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

  /// True if the library has the function.
  [[nodiscard]] bool has(const char* function) const { return address(function) != nullptr; }

  /// Calls a function; returns the reason if it failed.
  template <class... Arguments>
  std::optional<Unknown> call(const char* function, Arguments... arguments) const {
    using Function = int(Arguments...);
    auto* const found = reinterpret_cast<Function*>(address(function));  // NOLINT(*-cast)
    if (found == nullptr) {
      return missing(function);
    }
    const int status = found(arguments...);
    return status == kSuccess ? std::nullopt : std::optional(failed(function, status));
  }

  /// Returns the value that a function stores through its last argument.
  template <class Value, class... Arguments>
  Captured<Value> ask(const char* function, Arguments... arguments) const {
    Value value{};
    if (auto why = call(function, arguments..., &value)) {
      return *why;
    }
    return value;
  }

  /// The same for a text.
  template <class... Arguments>
  Captured<std::string> ask_text(const char* function, Arguments... arguments) const {
    std::array<char, 256> text{};
    if (auto why =
            call(function, arguments..., text.data(), static_cast<unsigned>(text.size() - 1))) {
      return *why;
    }
    return std::string(text.data());
  }

 private:
  [[nodiscard]] void* address(const char* function) const;
  [[nodiscard]] Unknown missing(const char* function) const;
  [[nodiscard]] Unknown failed(const char* function, int status) const;

  std::string path_;
  void* library_ = nullptr;
  std::string why_not_;
};

}  // namespace bench::nvml

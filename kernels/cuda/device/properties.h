#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::cuda {

/// Rates per second: bytes of memory, and operations. Operations are those of dense tensor cores in
/// 16 bits and with TF32's rounding, and all others in f32.
struct CardSpeeds {
  double bytes_per_second = 0;
  double flops_per_second_16 = 0;
  double flops_per_second_tf32 = 0;
  double flops_per_second_32 = 0;
  bool operator==(const CardSpeeds&) const = default;
};

/// A GPU's properties for plans and estimates; the GPU is present or only described.
struct DeviceProperties {
  std::string name;
  /// 90 for compute capability 9.0.
  int capability = 0;
  /// Set for a present GPU: "0000:0e:00.0".
  std::string pci_bus_id = {};
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  /// The most that a block may request, and the size per multiprocessor.
  int max_shared_memory_per_block = 0;
  int shared_memory_per_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  /// The vendor's data sheet.
  CardSpeeds sheet = {};
  bool operator==(const DeviceProperties&) const = default;
};

/// The rates for estimates: shares of the data sheet's, which no network reaches.
CardSpeeds planning_speeds(const DeviceProperties& device);
/// The time of a launch that estimates add; a guess.
inline constexpr double kLaunchSeconds = 2e-6;
/// These values as text, each with its source. Example: `2512.5 GB/s (0.75 of the data sheet),
/// 494.5 TFLOP/s in 16 bits (0.5 of the data sheet), ... and 2 us per launch (assumed)`.
std::string planning_text(const DeviceProperties& device);

/// Cards from their vendors' data sheets: a typical card of each compute capability that our
/// kernels are compiled for, lowest first.
std::span<const DeviceProperties> described_cards();
/// The properties of a chip, "sm_90"; empty if no card is described.
std::optional<DeviceProperties> properties_of(std::string_view chip);

/// The properties in the form in which cuDNN accepts an absent device.
std::string cudnn_device_json(const DeviceProperties& device);

}  // namespace bench::cuda

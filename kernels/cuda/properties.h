#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::cuda {

/// Per second: bytes of memory, and operations of dense tensor cores in 16 bits, with TF32's
/// rounding, and of all else in f32.
struct CardSpeeds {
  double bytes_per_second = 0;
  double flops_per_second_16 = 0;
  double flops_per_second_tf32 = 0;
  double flops_per_second_32 = 0;
  bool operator==(const CardSpeeds&) const = default;
};

/// What plans and estimates need to know of a GPU; of one that is there or of one that is only
/// described.
struct DeviceProperties {
  std::string name;
  /// 90 for compute capability 9.0.
  int capability = 0;
  /// Of one that is there, "0000:0e:00.0".
  std::string pci_bus_id = {};
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  /// That a block may ask for, and of a multiprocessor.
  int max_shared_memory_per_block = 0;
  int shared_memory_per_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  /// Of the maker's sheet.
  CardSpeeds sheet = {};
  /// What large copies and products reach, where somebody measured it; else 0.
  CardSpeeds reached = {};
  bool operator==(const DeviceProperties&) const = default;
};

/// What estimates go by: what was reached, else the sheet's; of its rates on tensor cores, which
/// layers do not reach, a part.
CardSpeeds planning_speeds(const DeviceProperties& device);
/// What a launch takes beside them in estimates; a guess.
inline constexpr double kLaunchSeconds = 2e-6;
/// These in words, each with where it comes from: "4300 GB/s (reached, by its file), 692.3 TFLOP/s
/// in 16 bits (0.7 of the data sheet, a guess), ..., 67 in f32 (data sheet) and 2 us a launch (a
/// guess)".
std::string planning_text(const DeviceProperties& device);

/// Cards by their makers' sheets, a typical one of each compute capability that our kernels are
/// compiled for; lowest first.
std::span<const DeviceProperties> described_cards();
/// That of a chip, "sm_90"; none where no card is described.
std::optional<DeviceProperties> properties_of(std::string_view chip);

/// The properties as cuDNN wants a device described that is not there.
std::string cudnn_device_json(const DeviceProperties& device);

}  // namespace bench::cuda

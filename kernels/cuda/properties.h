#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::cuda {

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
  /// Of the maker's sheet, or measured: memory, and dense tensor cores in 16 bits.
  double bytes_per_second = 0;
  double flops_per_second_16 = 0;
  /// With TF32's rounding, and without tensor cores.
  double flops_per_second_tf32 = 0;
  double flops_per_second_32 = 0;
};

/// Cards by their makers' sheets, a typical one of each compute capability that our kernels are
/// compiled for; lowest first.
std::span<const DeviceProperties> described_cards();
/// That of a chip, "sm_90"; none where no card is described.
std::optional<DeviceProperties> properties_of(std::string_view chip);

/// The properties as cuDNN wants a device described that is not there.
std::string cudnn_device_json(const DeviceProperties& device);

}  // namespace bench::cuda

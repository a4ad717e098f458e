#include "kernels/cuda/device/properties.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The shares of the data sheet's rates that estimates use. With them, estimates for training
/// ResNet-50 v1.5 with 256 images and the default fusions are within 5 % of what was measured. That
/// was in f16 on an H100 and an H200, and in f32 on the H100.
constexpr double kMemoryEfficiency = 0.75;
constexpr double kTensorCoreEfficiency = 0.5;
constexpr double kF32Efficiency = 0.43;
constexpr int kLeastWithTf32 = 80;

constexpr int kKib = 1024;
constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kGib = std::int64_t{1} << 30;

/// Sources: CUDA's programming guide for the compute capability, and the vendor's data sheet for
/// the card, without sparsity. If a sheet has no rate for 16 bits or TF32, its rates for 8 or 4
/// bits are divided by 2 or 4. T4 has no TF32: it computes f32 in f32.
std::vector<DeviceProperties> make_cards() {
  return {
      {.name = "T4",
       .capability = 75,
       .multiprocessors = 40,
       .max_threads_per_multiprocessor = 1024,
       .max_blocks_per_multiprocessor = 16,
       .max_shared_memory_per_block = 64 * kKib,
       .shared_memory_per_multiprocessor = 64 * kKib,
       .l2_bytes = 4 * kMib,
       .memory_bytes = 16 * kGib,
       .clock_khz = 1590000,
       .memory_clock_khz = 5001000,
       .sheet = {.bytes_per_second = 320e9,
                 .flops_per_second_16 = 65e12,
                 .flops_per_second_tf32 = 8.1e12,
                 .flops_per_second_32 = 8.1e12}},
      {.name = "A100 SXM",
       .capability = 80,
       .multiprocessors = 108,
       .max_threads_per_multiprocessor = 2048,
       .max_blocks_per_multiprocessor = 32,
       .max_shared_memory_per_block = 163 * kKib,
       .shared_memory_per_multiprocessor = 164 * kKib,
       .l2_bytes = 40 * kMib,
       .memory_bytes = 80 * kGib,
       .clock_khz = 1410000,
       .memory_clock_khz = 1593000,
       .sheet = {.bytes_per_second = 2039e9,
                 .flops_per_second_16 = 312e12,
                 .flops_per_second_tf32 = 156e12,
                 .flops_per_second_32 = 19.5e12}},
      {.name = "A10",
       .capability = 86,
       .multiprocessors = 72,
       .max_threads_per_multiprocessor = 1536,
       .max_blocks_per_multiprocessor = 16,
       .max_shared_memory_per_block = 99 * kKib,
       .shared_memory_per_multiprocessor = 100 * kKib,
       .l2_bytes = 6 * kMib,
       .memory_bytes = 24 * kGib,
       .clock_khz = 1695000,
       .memory_clock_khz = 6251000,
       .sheet = {.bytes_per_second = 600e9,
                 .flops_per_second_16 = 125e12,
                 .flops_per_second_tf32 = 62.5e12,
                 .flops_per_second_32 = 31.2e12}},
      {.name = "Jetson AGX Orin",
       .capability = 87,
       .multiprocessors = 16,
       .max_threads_per_multiprocessor = 1536,
       .max_blocks_per_multiprocessor = 16,
       .max_shared_memory_per_block = 163 * kKib,
       .shared_memory_per_multiprocessor = 164 * kKib,
       .l2_bytes = 4 * kMib,
       .memory_bytes = 64 * kGib,
       .clock_khz = 1300000,
       .memory_clock_khz = 3199000,
       .sheet = {.bytes_per_second = 204.8e9,
                 .flops_per_second_16 = 42.5e12,
                 .flops_per_second_tf32 = 21.2e12,
                 .flops_per_second_32 = 5.3e12}},
      {.name = "L40S",
       .capability = 89,
       .multiprocessors = 142,
       .max_threads_per_multiprocessor = 1536,
       .max_blocks_per_multiprocessor = 24,
       .max_shared_memory_per_block = 99 * kKib,
       .shared_memory_per_multiprocessor = 100 * kKib,
       .l2_bytes = 96 * kMib,
       .memory_bytes = 48 * kGib,
       .clock_khz = 2520000,
       .memory_clock_khz = 9001000,
       .sheet = {.bytes_per_second = 864e9,
                 .flops_per_second_16 = 362e12,
                 .flops_per_second_tf32 = 183e12,
                 .flops_per_second_32 = 91.6e12}},
      {.name = "H100 SXM",
       .capability = 90,
       .multiprocessors = 132,
       .max_threads_per_multiprocessor = 2048,
       .max_blocks_per_multiprocessor = 32,
       .max_shared_memory_per_block = 227 * kKib,
       .shared_memory_per_multiprocessor = 228 * kKib,
       .l2_bytes = 50 * kMib,
       .memory_bytes = 80 * kGib,
       .clock_khz = 1980000,
       .memory_clock_khz = 2619000,
       .sheet = {.bytes_per_second = 3350e9,
                 .flops_per_second_16 = 989e12,
                 .flops_per_second_tf32 = 494e12,
                 .flops_per_second_32 = 67e12}},
      {.name = "B200",
       .capability = 100,
       .multiprocessors = 148,
       .max_threads_per_multiprocessor = 2048,
       .max_blocks_per_multiprocessor = 32,
       .max_shared_memory_per_block = 227 * kKib,
       .shared_memory_per_multiprocessor = 228 * kKib,
       .l2_bytes = 126 * kMib,
       .memory_bytes = 180 * kGib,
       .clock_khz = 1965000,
       .memory_clock_khz = 3996000,
       .sheet = {.bytes_per_second = 8000e9,
                 .flops_per_second_16 = 2250e12,
                 .flops_per_second_tf32 = 1125e12,
                 .flops_per_second_32 = 75e12}},
      {.name = "B300",
       .capability = 103,
       .multiprocessors = 148,
       .max_threads_per_multiprocessor = 2048,
       .max_blocks_per_multiprocessor = 32,
       .max_shared_memory_per_block = 227 * kKib,
       .shared_memory_per_multiprocessor = 228 * kKib,
       .l2_bytes = 126 * kMib,
       .memory_bytes = 270 * kGib,
       .clock_khz = 2032000,
       .memory_clock_khz = 3996000,
       .sheet = {.bytes_per_second = 8000e9,
                 .flops_per_second_16 = 2250e12,
                 .flops_per_second_tf32 = 1125e12,
                 .flops_per_second_32 = 75e12}},
      {.name = "Jetson AGX Thor",
       .capability = 110,
       .multiprocessors = 20,
       .max_threads_per_multiprocessor = 1536,
       .max_blocks_per_multiprocessor = 24,
       .max_shared_memory_per_block = 227 * kKib,
       .shared_memory_per_multiprocessor = 228 * kKib,
       .l2_bytes = 32 * kMib,
       .memory_bytes = 128 * kGib,
       .clock_khz = 1575000,
       .memory_clock_khz = 4266000,
       .sheet = {.bytes_per_second = 273e9,
                 .flops_per_second_16 = 258e12,
                 .flops_per_second_tf32 = 129e12,
                 .flops_per_second_32 = 8.1e12}},
      {.name = "GeForce RTX 5090",
       .capability = 120,
       .multiprocessors = 170,
       .max_threads_per_multiprocessor = 1536,
       .max_blocks_per_multiprocessor = 24,
       .max_shared_memory_per_block = 99 * kKib,
       .shared_memory_per_multiprocessor = 100 * kKib,
       .l2_bytes = 96 * kMib,
       .memory_bytes = 32 * kGib,
       .clock_khz = 2407000,
       .memory_clock_khz = 14001000,
       .sheet = {.bytes_per_second = 1792e9,
                 .flops_per_second_16 = 209.5e12,
                 .flops_per_second_tf32 = 104.8e12,
                 .flops_per_second_32 = 104.8e12}},
      {.name = "DGX Spark",
       .capability = 121,
       .multiprocessors = 48,
       .max_threads_per_multiprocessor = 1536,
       .max_blocks_per_multiprocessor = 24,
       .max_shared_memory_per_block = 99 * kKib,
       .shared_memory_per_multiprocessor = 100 * kKib,
       .l2_bytes = 24 * kMib,
       .memory_bytes = 128 * kGib,
       .clock_khz = 2418000,
       .memory_clock_khz = 4266000,
       .sheet = {.bytes_per_second = 273e9,
                 .flops_per_second_16 = 125e12,
                 .flops_per_second_tf32 = 62.5e12,
                 .flops_per_second_32 = 29.7e12}},
  };
}

}  // namespace

std::span<const DeviceProperties> described_cards() {
  static const std::vector<DeviceProperties> kCards = make_cards();
  return kCards;
}

std::optional<DeviceProperties> properties_of(std::string_view chip) {
  const auto cards = described_cards();
  const auto found = std::ranges::find_if(cards, [&](const DeviceProperties& card) {
    return fmt::format("sm_{}", card.capability) == chip;
  });
  return found == cards.end() ? std::nullopt : std::optional(*found);
}

CardSpeeds planning_speeds(const DeviceProperties& device) {
  const CardSpeeds& sheet = device.sheet;
  return {.bytes_per_second = kMemoryEfficiency * sheet.bytes_per_second,
          .flops_per_second_16 = kTensorCoreEfficiency * sheet.flops_per_second_16,
          .flops_per_second_tf32 = kTensorCoreEfficiency * sheet.flops_per_second_tf32,
          .flops_per_second_32 = kF32Efficiency * sheet.flops_per_second_32};
}

std::string planning_text(const DeviceProperties& device) {
  constexpr double kGiga = 1e9;
  constexpr double kTera = 1e12;
  constexpr double kMicro = 1e-6;
  constexpr double kTenths = 10;
  const auto described = properties_of(fmt::format("sm_{}", device.capability));
  const bool of_a_sheet =
      described && described->name == device.name && described->sheet == device.sheet;
  const CardSpeeds speeds = planning_speeds(device);
  const auto text = [&](double CardSpeeds::*speed, double unit, std::string_view name,
                        double share) {
    const double rounded = std::round(speeds.*speed / unit * kTenths) / kTenths;
    const std::string_view sheet = of_a_sheet ? "data sheet" : "file's rate";
    return fmt::format("{:g} {} ({:g} of the {})", rounded, name, share, sheet);
  };
  const std::string bytes = text(&CardSpeeds::bytes_per_second, kGiga, "GB/s", kMemoryEfficiency);
  std::string flops =
      text(&CardSpeeds::flops_per_second_16, kTera, "TFLOP/s in 16 bits", kTensorCoreEfficiency);
  if (device.capability >= kLeastWithTf32) {
    flops +=
        ", " + text(&CardSpeeds::flops_per_second_tf32, kTera, "in TF32", kTensorCoreEfficiency);
  }
  flops += ", " + text(&CardSpeeds::flops_per_second_32, kTera, "in f32", kF32Efficiency);
  return fmt::format("{}, {} and {:g} us per launch (assumed)", bytes, flops,
                     kLaunchSeconds / kMicro);
}

std::string cudnn_device_json(const DeviceProperties& device) {
  // Values outside the structure are the same on all devices of the capabilities above.
  return fmt::format(
      R"({{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64])"
      R"(,"regsPerBlock":65536,"maxRegistersPerSM":65536,"warpSize":32)"
      R"(,"maxThreadsPerBlock":1024,"maxSharedMemoryPerBlock":49152)"
      R"(,"reservedSharedMemoryPerBlock":{},"maxSharedMemoryPerBlockOptin":{})"
      R"(,"multiProcessorCount":{},"maxCtasPerSM":{},"maxThreadsPerSM":{})"
      R"(,"totalGlobalMem":{},"l2CacheSize":{},"smClockRateKHz":{},"memClockRateKHz":{})"
      R"(,"deviceVer":{},"driverVer":13000,"pciDeviceId":0,"cudaDeviceId":0,"isTccDriver":0)"
      R"(,"supportCoopLaunch":1,"deviceName":"described"}})",
      device.shared_memory_per_multiprocessor - device.max_shared_memory_per_block,
      device.max_shared_memory_per_block, device.multiprocessors,
      device.max_blocks_per_multiprocessor, device.max_threads_per_multiprocessor,
      device.memory_bytes, device.l2_bytes, device.clock_khz, device.memory_clock_khz,
      10 * device.capability);
}

}  // namespace bench::cuda

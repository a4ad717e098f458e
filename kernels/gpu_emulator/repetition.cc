// One run of a kernel shows a fault only if its order and the memory's old bytes happen to expose
// it. So the kernel runs again, each time with only one of them changed.

#include "kernels/gpu_emulator/repetition.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/gpu_emulator/machine.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

/// A finite number in every type.
constexpr unsigned char kFiniteByte = 0x3C;

/// A snapshot of some memory.
struct Region {
  std::byte* memory;
  std::vector<std::byte> bytes;
};
using Snapshot = std::vector<Region>;

Snapshot snapshot(Machine& machine) {
  Snapshot regions;
  const auto keep = [&](void* address, std::size_t bytes) {
    auto* const first = static_cast<std::byte*>(address);
    regions.push_back({.memory = first, .bytes = {first, first + bytes}});
  };
  machine.memory().for_each(keep);
  machine.pinned().for_each(keep);
  return regions;
}

void restore(const Snapshot& regions) {
  for (const Region& region : regions) {
    std::copy(region.bytes.begin(), region.bytes.end(), region.memory);
  }
}

/// The first byte that has changed, or null.
const std::byte* first_change(const Snapshot& regions) {
  for (const auto& [memory, bytes] : regions) {
    if (std::memcmp(memory, bytes.data(), bytes.size()) != 0) {
      return std::mismatch(bytes.begin(), bytes.end(), memory).second;
    }
  }
  return nullptr;
}

/// Fills the bytes around all allocations with a finite number instead of NaN.
class FilledBeside {
 public:
  explicit FilledBeside(DeviceMemory& memory) : memory_(memory) { memory.fill_beside(kFiniteByte); }
  FilledBeside(const FilledBeside&) = delete;
  FilledBeside& operator=(const FilledBeside&) = delete;
  ~FilledBeside() { memory_.fill_beside(kNaNByte); }

 private:
  DeviceMemory& memory_;
};

std::string name_of_byte(const Machine& machine, const std::byte* address) {
  constexpr std::size_t kTextBytes = 256;
  char text[kTextBytes] = "a byte of pinned memory";
  if (machine.memory().in_arena(address)) {
    machine.memory().describe(address, text, sizeof text);
  }
  return text;
}

}  // namespace

void run_repeatedly(const char* kernel, std::uint64_t seed,
                    const std::function<void(const KernelPass&)>& run) {
  Machine& machine = Machine::get();
  const Snapshot before = snapshot(machine);
  run({});
  const Snapshot expected = snapshot(machine);
  const auto run_again = [&](const KernelPass& pass, const char* cause) {
    restore(before);
    run(pass);
    if (const std::byte* const changed = first_change(expected)) {
      throw InternalError(fmt::format("kernel {}: {} depends on {}", kernel,
                                      name_of_byte(machine, changed), cause));
    }
  };
  constexpr const char* kLanes =
      "the order of lanes: a barrier is missing, or several lanes write there";
  constexpr const char* kBlocks = "the order of blocks: several blocks write there";
  const std::uint64_t drawn = std::max<std::uint64_t>(seed, 2);
  run_again({.lane_order = 1}, kLanes);
  run_again({.lane_order = drawn}, kLanes);
  run_again({.block_order = 1}, kBlocks);
  run_again({.block_order = drawn}, kBlocks);
  run_again({.shared_fill = kFiniteByte}, "uninitialized shared memory");
  if (const std::string damage = machine.memory().damage(); !damage.empty()) {
    throw InternalError(fmt::format("kernel {} {}", kernel, damage));
  }
  const FilledBeside filled(machine.memory());
  run_again({}, "bytes next to an allocation");
}

}  // namespace bench::cuda::emulator

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench::cuda::emulator {

/// What memory that nobody set is full of: not a number in any type.
constexpr unsigned char kNaNByte = 0xFF;

/// What an address belongs to.
enum class Owner : std::uint8_t { host, pinned, device, nobody };

/// The device's memory: nobody may touch it but between open() and close(). Allocations end at a
/// page's end as nearly as their alignment of 256 bytes allows, with a page before and behind that
/// is never open. New memory is filled with NaN, as are the bytes that are left of its pages.
class DeviceMemory {
 public:
  static constexpr std::size_t kAlignment = 256;

  DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  void set_limit(std::size_t bytes) { limit_ = bytes; }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  [[nodiscard]] std::size_t used() const { return used_; }

  /// Null when that much is not left. `bytes` is not 0.
  void* allocate(std::size_t bytes, int device);
  /// False for what is not the start of an allocation. The addresses are not given out again soon.
  bool release(void* address);

  void open();
  void close();

  /// Calls `visit` with each allocation's address and bytes.
  void for_each(const std::function<void(void*, std::size_t)>& visit) const;
  /// Writes `fill` beside all allocations, where damage() looks. Memory has to be open.
  void fill_beside(unsigned char fill);

  /// Whether the address lies where allocations do.
  [[nodiscard]] bool in_arena(const void* address) const;
  /// Whether these bytes lie within one allocation.
  [[nodiscard]] bool holds(const void* address, std::size_t bytes) const;
  /// Which device allocated what the address lies in; none for any other.
  [[nodiscard]] std::optional<int> device_of(const void* address) const;
  /// Where an address in the arena lies, as words for a message; safe in a signal handler if the
  /// thread holds the runtime's lock: it writes up to `size` bytes with the terminating 0.
  void describe(const void* address, char* text, std::size_t size) const;
  /// What was written beside an allocation since the last call, or "". Memory has to be open.
  std::string damage();

 private:
  struct Allocation {
    std::uintptr_t pages = 0;
    std::size_t page_bytes = 0;
    std::size_t bytes = 0;
    int device = 0;
  };
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  static Range behind(std::uintptr_t address, const Allocation& allocation);
  static Range before(std::uintptr_t address, const Allocation& allocation);
  [[nodiscard]] std::uintptr_t find_gap(std::size_t bytes) const;
  [[nodiscard]] const std::pair<const std::uintptr_t, Allocation>* at_or_before(
      std::uintptr_t address) const;
  void protect(const Allocation& allocation, bool open) const;

  std::uintptr_t arena_ = 0;
  std::size_t arena_bytes_ = 0;
  std::uintptr_t cursor_ = 0;
  std::size_t limit_ = std::size_t{8} << 30;
  std::size_t used_ = 0;
  bool open_ = false;
  /// By address.
  std::map<std::uintptr_t, Allocation> allocations_;
};

/// Memory of the host that the device can reach.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();
  /// Null when the host has no more. `bytes` is not 0.
  void* allocate(std::size_t bytes);
  bool release(void* address);
  [[nodiscard]] bool holds(const void* address, std::size_t bytes) const;
  /// Calls `visit` with each block's address and bytes.
  void for_each(const std::function<void(void*, std::size_t)>& visit) const;

 private:
  std::map<std::uintptr_t, std::size_t> blocks_;
};

}  // namespace bench::cuda::emulator

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench::cuda::emulator {

/// The fill of uninitialized memory: NaN in every type.
constexpr unsigned char kNaNByte = 0xFF;

/// The owner of an address.
enum class Owner : std::uint8_t { host, pinned, device, nobody };

/// The device's memory, accessible only between open() and close(). An allocation ends as close to
/// the end of a page as its alignment of 256 bytes allows. The page before and the page after are
/// never open. New memory is filled with NaN, as is the remainder of its pages.
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

  /// Null if the memory does not suffice. `bytes` is not 0.
  void* allocate(std::size_t bytes, int device);
  /// Returns false for an address that does not start an allocation. The addresses are not soon
  /// reused.
  bool release(void* address);

  void open();
  void close();

  /// Calls `visit` with each allocation's address and bytes.
  void for_each(const std::function<void(void*, std::size_t)>& visit) const;
  /// Writes `fill` around all allocations, where damage() looks. Memory must be open.
  void fill_beside(unsigned char fill);

  /// True if the address is in the range of allocations.
  [[nodiscard]] bool in_arena(const void* address) const;
  /// True if these bytes are within one allocation.
  [[nodiscard]] bool holds(const void* address, std::size_t bytes) const;
  /// The device whose allocation contains the address, if any.
  [[nodiscard]] std::optional<int> device_of(const void* address) const;
  /// Writes the position of an address in the arena, as words for a message. Writes up to `size`
  /// bytes with the terminating 0. Safe in a signal handler if the thread holds the runtime's lock.
  void describe(const void* address, char* text, std::size_t size) const;
  /// Describes what was written around an allocation since the last call; may be "". Memory must be
  /// open.
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
  /// The key is the address.
  std::map<std::uintptr_t, Allocation> allocations_;
};

/// Host memory that the device can access.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();
  /// Null if the host has no more memory. `bytes` is not 0.
  void* allocate(std::size_t bytes);
  bool release(void* address);
  [[nodiscard]] bool holds(const void* address, std::size_t bytes) const;
  /// Calls `visit` with each block's address and bytes.
  void for_each(const std::function<void(void*, std::size_t)>& visit) const;

 private:
  std::map<std::uintptr_t, std::size_t> blocks_;
};

}  // namespace bench::cuda::emulator

#include "kernels/gpu_emulator/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

constexpr std::size_t kPage = 4096;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

unsigned char* bytes_at(std::uintptr_t address) {
  return reinterpret_cast<unsigned char*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Returns the first byte of the range that is not NaN, after setting it to NaN again; null if all
/// bytes are NaN.
const unsigned char* repair(std::uintptr_t begin, std::uintptr_t end) {
  unsigned char* const first = bytes_at(begin);
  unsigned char* const last = bytes_at(end);
  // All bytes are equal if each equals the next.
  if (begin == end || (*first == kNaNByte && std::memcmp(first, first + 1, end - begin - 1) == 0)) {
    return nullptr;
  }
  unsigned char* const changed =
      std::find_if(first, last, [](unsigned char byte) { return byte != kNaNByte; });
  std::fill(changed, last, kNaNByte);
  return changed;
}

}  // namespace

DeviceMemory::DeviceMemory() {
  // Address space costs nothing, and a larger arena delays the reuse of freed addresses. Where it
  // is limited, a smaller arena is enough.
  for (const int log_bytes : {40, 36, 34}) {
    arena_bytes_ = std::size_t{1} << log_bytes;
    void* const arena =
        mmap(nullptr, arena_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena != MAP_FAILED) {
      arena_ = number_of(arena);
      cursor_ = arena_;
      return;
    }
  }
  throw DeviceError("the emulated GPU: cannot reserve 16 GiB of addresses for its memory");
}

DeviceMemory::~DeviceMemory() { munmap(bytes_at(arena_), arena_bytes_); }

const std::pair<const std::uintptr_t, DeviceMemory::Allocation>* DeviceMemory::at_or_before(
    std::uintptr_t address) const {
  const auto behind = allocations_.upper_bound(address);
  return behind == allocations_.begin() ? nullptr : &*std::prev(behind);
}

/// Unused pages with one page before and one after: from the cursor on, then from the start.
/// Returns 0 if there are not enough.
std::uintptr_t DeviceMemory::find_gap(std::size_t bytes) const {
  for (std::uintptr_t begin : {cursor_, arena_}) {
    if (const auto* before = at_or_before(begin)) {
      begin = std::max(begin, before->second.pages + before->second.page_bytes);
    }
    for (auto next = allocations_.upper_bound(begin);; ++next) {
      const std::uintptr_t end =
          next == allocations_.end() ? arena_ + arena_bytes_ : next->second.pages;
      if (end >= begin + bytes + 2 * kPage) {
        return begin + kPage;
      }
      if (next == allocations_.end()) {
        break;
      }
      begin = next->second.pages + next->second.page_bytes;
    }
  }
  return 0;
}

void* DeviceMemory::allocate(std::size_t bytes, int device) {
  if (bytes > limit_) {
    return nullptr;
  }
  const std::size_t aligned = rounded_up(bytes, kAlignment);
  Allocation allocation = {
      .page_bytes = rounded_up(aligned, kPage), .bytes = bytes, .device = device};
  if (used_ + allocation.page_bytes > limit_) {
    return nullptr;
  }
  allocation.pages = find_gap(allocation.page_bytes);
  if (allocation.pages == 0) {
    return nullptr;
  }
  protect(allocation, true);
  std::memset(bytes_at(allocation.pages), kNaNByte, allocation.page_bytes);
  protect(allocation, open_);
  const std::uintptr_t address = allocation.pages + allocation.page_bytes - aligned;
  cursor_ = allocation.pages + allocation.page_bytes;
  used_ += allocation.page_bytes;
  allocations_.emplace(address, allocation);
  return bytes_at(address);
}

bool DeviceMemory::release(void* address) {
  const auto found = allocations_.find(number_of(address));
  if (found == allocations_.end()) {
    return false;
  }
  const Allocation& allocation = found->second;
  protect(allocation, false);
  madvise(bytes_at(allocation.pages), allocation.page_bytes, MADV_DONTNEED);
  used_ -= allocation.page_bytes;
  allocations_.erase(found);
  return true;
}

void DeviceMemory::protect(const Allocation& allocation, bool open) const {
  const int access = open ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (mprotect(bytes_at(allocation.pages), allocation.page_bytes, access) != 0) {
    throw DeviceError(fmt::format("the emulated GPU: mprotect: {}", std::strerror(errno)));
  }
}

void DeviceMemory::open() {
  if (!std::exchange(open_, true)) {
    for (const auto& [address, allocation] : allocations_) {
      protect(allocation, true);
    }
  }
}

void DeviceMemory::close() {
  if (std::exchange(open_, false)) {
    for (const auto& [address, allocation] : allocations_) {
      protect(allocation, false);
    }
  }
}

bool DeviceMemory::in_arena(const void* address) const {
  return number_of(address) - arena_ < arena_bytes_;
}

bool DeviceMemory::holds(const void* address, std::size_t bytes) const {
  const auto* const found = at_or_before(number_of(address));
  return found != nullptr && bytes <= found->second.bytes &&
         number_of(address) - found->first <= found->second.bytes - bytes;
}

std::optional<int> DeviceMemory::device_of(const void* address) const {
  return holds(address, 1) ? std::optional(at_or_before(number_of(address))->second.device)
                           : std::nullopt;
}

void DeviceMemory::describe(const void* address, char* text, std::size_t size) const {
  const std::uintptr_t number = number_of(address);
  const auto* const before = at_or_before(number);
  const auto next = allocations_.upper_bound(number);
  // Within the allocation's pages, or on the page before or after them.
  if (before != nullptr && number < before->second.pages + before->second.page_bytes + kPage) {
    const std::size_t bytes = before->second.bytes;
    const std::size_t offset = number - before->first;
    if (offset < bytes) {
      std::snprintf(text, size, "byte %zu of an allocation of %zu bytes", offset, bytes);
    } else {
      std::snprintf(text, size, "%zu bytes past the end of an allocation of %zu bytes",
                    offset - bytes, bytes);
    }
  } else if (next != allocations_.end() && number >= next->second.pages - kPage) {
    std::snprintf(text, size, "%zu bytes before the start of an allocation of %zu bytes",
                  next->first - number, next->second.bytes);
  } else {
    std::snprintf(text, size, "memory that was freed or never allocated");
  }
}

void DeviceMemory::for_each(const std::function<void(void*, std::size_t)>& visit) const {
  for (const auto& [address, allocation] : allocations_) {
    visit(bytes_at(address), allocation.bytes);
  }
}

DeviceMemory::Range DeviceMemory::behind(std::uintptr_t address, const Allocation& allocation) {
  return {address + allocation.bytes, allocation.pages + allocation.page_bytes};
}

/// A stray write before the start is usually close to it.
DeviceMemory::Range DeviceMemory::before(std::uintptr_t address, const Allocation& allocation) {
  return {std::max(allocation.pages, address - kAlignment), address};
}

void DeviceMemory::fill_beside(unsigned char fill) {
  for (const auto& [address, allocation] : allocations_) {
    for (const auto& [begin, end] : {behind(address, allocation), before(address, allocation)}) {
      std::fill(bytes_at(begin), bytes_at(end), fill);
    }
  }
}

std::string DeviceMemory::damage() {
  for (const auto& [address, allocation] : allocations_) {
    const auto [end, pages_end] = behind(address, allocation);
    if (const auto* changed = repair(end, pages_end)) {
      return fmt::format("wrote {} bytes past the end of an allocation of {} bytes",
                         number_of(changed) - end, allocation.bytes);
    }
    const auto [begin, start] = before(address, allocation);
    if (const auto* changed = repair(begin, start)) {
      return fmt::format("wrote {} bytes before the start of an allocation of {} bytes",
                         address - number_of(changed), allocation.bytes);
    }
  }
  return "";
}

PinnedMemory::~PinnedMemory() {
  for (const auto& [address, bytes] : blocks_) {
    munmap(bytes_at(address), bytes);
  }
}

void* PinnedMemory::allocate(std::size_t bytes) {
  void* const address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    return nullptr;
  }
  std::memset(address, kNaNByte, bytes);
  blocks_.emplace(number_of(address), bytes);
  return address;
}

bool PinnedMemory::release(void* address) {
  const auto found = blocks_.find(number_of(address));
  if (found == blocks_.end()) {
    return false;
  }
  munmap(address, found->second);
  blocks_.erase(found);
  return true;
}

bool PinnedMemory::holds(const void* address, std::size_t bytes) const {
  const std::uintptr_t number = number_of(address);
  const auto behind = blocks_.upper_bound(number);
  if (behind == blocks_.begin()) {
    return false;
  }
  const auto& [begin, size] = *std::prev(behind);
  return bytes <= size && number - begin <= size - bytes;
}

void PinnedMemory::for_each(const std::function<void(void*, std::size_t)>& visit) const {
  for (const auto& [address, bytes] : blocks_) {
    visit(bytes_at(address), bytes);
  }
}

}  // namespace bench::cuda::emulator

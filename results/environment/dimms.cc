#include "results/environment/dimms.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr const char* kTable = "/sys/firmware/dmi/tables/DMI";
constexpr unsigned kMemoryDevice = 17;
constexpr std::size_t kHeaderBytes = 4;

/// One structure of the table: the formatted part, and its strings.
class Structure {
 public:
  Structure(std::string_view formatted, std::string_view texts)
      : formatted_(formatted), texts_(texts) {}

  [[nodiscard]] unsigned type() const { return byte(0).value_or(0); }

  /// A little-endian number of `bytes` bytes; nullopt if the structure is too short.
  [[nodiscard]] std::optional<std::uint32_t> number(std::size_t offset, std::size_t bytes) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto part = byte(offset + i);
      if (!part) return std::nullopt;
      value |= *part << (8 * i);
    }
    return value;
  }

  /// The string with the number at `offset`; numbers count from 1.
  [[nodiscard]] Captured<std::string> text(std::size_t offset) const {
    std::uint32_t index = number(offset, 1).value_or(0);
    std::string_view rest = texts_;
    while (index > 1 && !rest.empty()) {
      const std::size_t end = rest.find('\0');
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
      --index;
    }
    std::string found(rest.substr(0, rest.find('\0')));
    found.erase(found.find_last_not_of(' ') + 1);
    if (index == 0 || found.empty()) return Unknown{"the firmware does not report it"};
    return found;
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> byte(std::size_t offset) const {
    if (offset >= formatted_.size()) return std::nullopt;
    return static_cast<unsigned char>(formatted_[offset]);
  }

  std::string_view formatted_;
  std::string_view texts_;
};

/// The structures in order, up to a damaged one.
std::vector<Structure> structures_of(std::string_view table) {
  std::vector<Structure> structures;
  while (table.size() >= kHeaderBytes) {
    const std::size_t length = static_cast<unsigned char>(table[1]);
    if (length < kHeaderBytes || length > table.size()) break;
    const std::string_view behind = table.substr(length);
    const std::size_t end = behind.find(std::string_view("\0\0", 2));
    structures.emplace_back(table.substr(0, length), behind.substr(0, end));
    if (end == behind.npos) break;
    table = behind.substr(end + 2);
  }
  return structures;
}

Captured<std::int64_t> bytes_of(const Structure& module) {
  constexpr std::uint32_t kElsewhere = 0x7fff;
  constexpr std::uint32_t kUnknown = 0xffff;
  constexpr std::uint32_t kInKib = 0x8000;
  constexpr std::int64_t kMib = 1 << 20;
  const std::uint32_t size = module.number(0x0c, 2).value_or(kUnknown);
  if (size == kUnknown) return Unknown{"the firmware does not report it"};
  if (size == kElsewhere) {
    return static_cast<std::int64_t>(module.number(0x1c, 4).value_or(0)) * kMib;
  }
  if ((size & kInKib) != 0) return static_cast<std::int64_t>(size & ~kInKib) * 1024;
  return static_cast<std::int64_t>(size) * kMib;
}

Captured<std::string> kind_of(const Structure& module) {
  struct Kind {
    std::uint32_t value;
    const char* name;
  };
  constexpr std::array kKinds = {Kind{0x18, "DDR3"},   Kind{0x1a, "DDR4"},   Kind{0x1d, "LPDDR3"},
                                 Kind{0x1e, "LPDDR4"}, Kind{0x20, "HBM"},    Kind{0x21, "HBM2"},
                                 Kind{0x22, "DDR5"},   Kind{0x23, "LPDDR5"}, Kind{0x24, "HBM3"}};
  const std::uint32_t value = module.number(0x12, 1).value_or(0);
  for (const Kind& kind : kKinds) {
    if (kind.value == value) return kind.name;
  }
  return Unknown{fmt::format("SMBIOS reports the unknown memory type {}", value)};
}

/// The speed at which it runs; 0 means unknown, 0xffff a speed that exceeds the field.
Captured<int> speed_of(const Structure& module) {
  const std::uint32_t speed = module.number(0x20, 2).value_or(0);
  if (speed == 0 || speed == 0xffff) return Unknown{"the firmware does not report it"};
  return static_cast<int>(speed);
}

}  // namespace

Captured<std::vector<results::Dimm>> capture_dimms(const SystemFiles& files) {
  const Captured<std::string> table = files.read(kTable);
  if (!table.known()) return Unknown{table.why()};
  std::vector<results::Dimm> dimms;
  for (const Structure& one : structures_of(table.value())) {
    if (one.type() != kMemoryDevice || one.number(0x0c, 2).value_or(0) == 0) continue;
    dimms.push_back({.slot = one.text(0x10),
                     .bytes = bytes_of(one),
                     .kind = kind_of(one),
                     .megatransfers_per_second = speed_of(one),
                     .part = one.text(0x1a)});
  }
  if (dimms.empty()) return Unknown{fmt::format("{} lists no memory module", kTable)};
  return dimms;
}

}  // namespace bench

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Element types of a tensor file.
enum class StoredType : std::uint8_t { f64, f32, f16, bf16, i64, i32 };

/// "F32" and so on, as spelled in the file.
std::string_view name_of(StoredType type);
/// Bytes of one element.
std::uint64_t size_of(StoredType type);
bool is_floating(StoredType type);

/// One tensor's entry. Its elements are row-major in bytes [begin, end) of the data region.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape{};  ///< Outermost first; empty for a scalar.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t elements() const { return (end - begin) / size_of(type); }
};

/// "64x3x7x7", or "scalar".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// A name from a file, quoted for messages. Anything but printable ASCII becomes '?', and a very
/// long name is cut.
std::string quoted_name(std::string_view name);

struct TensorFileHeader {
  std::map<std::string, StoredTensor, std::less<>> tensors{};
  std::map<std::string, std::string, std::less<>> metadata{};
  std::uint64_t data_bytes = 0;  ///< Where the last tensor ends.
};

/// Limits for reading untrusted files.
inline constexpr std::uint64_t kMostHeaderBytes = 16'000'000;
inline constexpr std::size_t kMostStoredTensors = 65'536;
inline constexpr std::size_t kMostStoredAxes = 16;

/// Reads the JSON header of a safetensors file. Checks every product and offset, and refuses
/// duplicate names. The tensors must fill the data region from its beginning without holes or
/// overlaps. Throws DataError with `file`, the tensor and the reason.
TensorFileHeader parse_tensor_file_header(std::string_view json, const std::string& file);

}  // namespace bench

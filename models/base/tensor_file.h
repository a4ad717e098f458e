#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/atomic_file.h"
#include "models/base/tensor_file_header.h"

namespace bench {

/// A safetensors file, opened for reading: named arrays and a few words about them. Holds the
/// header; elements are read when they are asked for. Made for files that anyone may have made.
class TensorFile {
 public:
  /// Opens the file and reads its header. Throws UsageError when it cannot be opened or is no
  /// ordinary file, DataError (file, tensor, reason) when it is malformed.
  explicit TensorFile(const std::filesystem::path& path);
  ~TensorFile();
  TensorFile(TensorFile&& other) noexcept;
  TensorFile& operator=(TensorFile&&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const auto& tensors() const { return header_.tensors; }
  [[nodiscard]] const auto& metadata() const { return header_.metadata; }
  [[nodiscard]] std::uint64_t size_bytes() const { return data_begin_ + header_.data_bytes; }
  /// The entry of that name, or nullptr.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;

  /// Reads elements [first, first + out.size()) of one of tensors(), converted from any floating
  /// type, rounding to the nearest. Any thread may call it. Throws DataError when the file became
  /// shorter, DeviceError when the system cannot read it.
  void read(const StoredTensor& tensor, std::uint64_t first, std::span<float> out) const;
  void read(const StoredTensor& tensor, std::uint64_t first, std::span<double> out) const;
  /// The same for I64 and I32.
  void read(const StoredTensor& tensor, std::uint64_t first, std::span<std::int64_t> out) const;

 private:
  void read_bytes(std::uint64_t offset, std::span<std::byte> out) const;
  template <class From, class To, class Convert>
  void read_converted(const StoredTensor& tensor, std::uint64_t first, std::span<To> out,
                      Convert convert) const;
  template <class To>
  void read_floating(const StoredTensor& tensor, std::uint64_t first, std::span<To> out) const;

  std::string name_;
  int fd_ = -1;
  std::uint64_t data_begin_ = 0;
  TensorFileHeader header_;
};

/// A tensor to write; `data` are its elements, row-major.
struct TensorToWrite {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

/// Writes a safetensors file as a whole or not at all. Names must be different and sizes must fit.
/// Throws WriteError.
void write_tensor_file(const AtomicFile& file, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace bench

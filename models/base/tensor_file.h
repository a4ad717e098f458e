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

/// A safetensors file opened for reading: named arrays and some metadata. Keeps the header in
/// memory and reads elements on demand. Safe for untrusted files.
class TensorFile {
 public:
  /// Opens the file and reads its header. Throws UsageError if it cannot be opened or is not a
  /// regular file, DataError (file, tensor, reason) if it is malformed.
  explicit TensorFile(const std::filesystem::path& path);
  /// A file in memory with these contents. `name` is for messages. Throws as above, and DeviceError
  /// if there is not enough memory.
  TensorFile(std::string name, std::string_view contents);
  ~TensorFile();
  TensorFile(TensorFile&& other) noexcept;
  TensorFile& operator=(TensorFile&&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const auto& tensors() const { return header_.tensors; }
  [[nodiscard]] const auto& metadata() const { return header_.metadata; }
  [[nodiscard]] std::uint64_t size_bytes() const { return data_begin_ + header_.data_bytes; }
  /// The entry with that name, or nullptr.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;

  /// Reads elements [first, first + out.size()) of one of tensors(). Converts from any floating
  /// type, rounding to nearest. Any thread may call it. Throws DataError if the file became
  /// shorter, DeviceError if the system cannot read it.
  void read(const StoredTensor& tensor, std::uint64_t first, std::span<float> out) const;
  void read(const StoredTensor& tensor, std::uint64_t first, std::span<double> out) const;
  /// The same for I64 and I32.
  void read(const StoredTensor& tensor, std::uint64_t first, std::span<std::int64_t> out) const;

 private:
  /// Reads the header; closes the file if that fails.
  void open();
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

/// A tensor to write; `data` is its elements, row-major.
struct TensorToWrite {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

/// Writes a safetensors file completely or not at all. Names must be unique and sizes must match.
/// Throws WriteError.
void write_tensor_file(const AtomicFile& file, std::span<const TensorToWrite> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace bench

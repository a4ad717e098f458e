#include "models/base/tensor_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "models/base/errors.h"
#include "models/base/half.h"

namespace bench {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor files are little-endian");

constexpr std::uint64_t kLengthBytes = 8;

}  // namespace

TensorFile::TensorFile(const std::filesystem::path& path) : name_(path.string()) {
  // Without O_NONBLOCK, opening a pipe without a writer would block here.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    throw UsageError(fmt::format("cannot read '{}': {}", name_, std::strerror(errno)));
  }
  open();
}

TensorFile::TensorFile(std::string name, std::string_view contents)
    : name_(std::move(name)), fd_(::memfd_create("tensors", MFD_CLOEXEC)) {
  while (fd_ >= 0 && !contents.empty()) {
    const ssize_t written = ::write(fd_, contents.data(), contents.size());
    if (written >= 0) {
      contents.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      ::close(std::exchange(fd_, -1));
    }
  }
  if (fd_ < 0) {
    throw DeviceError(
        fmt::format("{}: cannot keep the file in memory: {}", name_, std::strerror(errno)));
  }
  open();
}

void TensorFile::open() {
  try {
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
      throw UsageError(fmt::format("cannot read '{}': it is not a regular file", name_));
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size < kLengthBytes) {
      throw DataError(fmt::format("{}: {} bytes are too few for a safetensors file", name_, size));
    }
    std::uint64_t length = 0;
    read_bytes(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > kMostHeaderBytes) {
      throw DataError(fmt::format(
          "{} is not a safetensors file: the header length is {} bytes; at most {} are accepted. "
          "Convert PyTorch's files with the Python package safetensors",
          name_, length, kMostHeaderBytes));
    }
    if (length > size - kLengthBytes) {
      throw DataError(fmt::format("{}: the header length is {} bytes, but the whole file has {}",
                                  name_, length, size));
    }
    std::string json(length, '\0');
    read_bytes(kLengthBytes, std::as_writable_bytes(std::span(json)));
    header_ = parse_tensor_file_header(json, name_);
    data_begin_ = kLengthBytes + length;
    if (header_.data_bytes != size - data_begin_) {
      throw DataError(
          fmt::format("{}: the header describes {} bytes of data, but the file contains {}", name_,
                      header_.data_bytes, size - data_begin_));
    }
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

TensorFile::TensorFile(TensorFile&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)),
      data_begin_(other.data_begin_),
      header_(std::move(other.header_)) {}

TensorFile::~TensorFile() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

const StoredTensor* TensorFile::find(std::string_view name) const {
  const auto found = header_.tensors.find(name);
  return found == header_.tensors.end() ? nullptr : &found->second;
}

void TensorFile::read_bytes(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw DeviceError(fmt::format("cannot read '{}': pread: {}", name_, std::strerror(errno)));
    }
    if (got == 0) {
      throw DataError(fmt::format("{}: the file was truncated after it was opened, before byte {}",
                                  name_, offset));
    }
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

template <class From, class To, class Convert>
void TensorFile::read_converted(const StoredTensor& tensor, std::uint64_t first, std::span<To> out,
                                Convert convert) const {
  std::uint64_t offset = data_begin_ + tensor.begin + first * sizeof(From);
  if constexpr (std::is_same_v<From, To>) {
    read_bytes(offset, std::as_writable_bytes(out));
  } else {
    std::array<From, 8192> piece;
    while (!out.empty()) {
      const std::size_t count = std::min(out.size(), piece.size());
      read_bytes(offset, std::as_writable_bytes(std::span(piece).first(count)));
      std::transform(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count), out.begin(),
                     convert);
      out = out.subspan(count);
      offset += count * sizeof(From);
    }
  }
}

template <class To>
void TensorFile::read_floating(const StoredTensor& tensor, std::uint64_t first,
                               std::span<To> out) const {
  check(first <= tensor.elements() && out.size() <= tensor.elements() - first,
        "a read goes beyond the end of the tensor");
  const auto narrow = [](auto value) { return static_cast<To>(value); };
  const auto from_16_bits = [](auto value) { return static_cast<To>(widen(value)); };
  switch (tensor.type) {
    case StoredType::f64:
      return read_converted<double>(tensor, first, out, narrow);
    case StoredType::f32:
      return read_converted<float>(tensor, first, out, narrow);
    case StoredType::f16:
      return read_converted<Float16>(tensor, first, out, from_16_bits);
    case StoredType::bf16:
      return read_converted<Bfloat16>(tensor, first, out, from_16_bits);
    case StoredType::i64:
    case StoredType::i32:
      break;
  }
  throw InternalError(
      fmt::format("cannot read a tensor of {} as floating-point numbers", name_of(tensor.type)));
}

void TensorFile::read(const StoredTensor& tensor, std::uint64_t first, std::span<float> out) const {
  read_floating(tensor, first, out);
}

void TensorFile::read(const StoredTensor& tensor, std::uint64_t first,
                      std::span<double> out) const {
  read_floating(tensor, first, out);
}

void TensorFile::read(const StoredTensor& tensor, std::uint64_t first,
                      std::span<std::int64_t> out) const {
  check(first <= tensor.elements() && out.size() <= tensor.elements() - first,
        "a read goes beyond the end of the tensor");
  const auto same = [](auto value) { return std::int64_t{value}; };
  if (tensor.type == StoredType::i64) {
    return read_converted<std::int64_t>(tensor, first, out, same);
  }
  check(tensor.type == StoredType::i32,
        "cannot read a tensor of floating-point numbers as integers");
  read_converted<std::int32_t>(tensor, first, out, same);
}

}  // namespace bench

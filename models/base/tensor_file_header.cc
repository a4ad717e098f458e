#include "models/base/tensor_file_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

struct TypeRow {
  StoredType type;
  std::string_view name;
  std::uint64_t bytes;
  bool floating;
};

constexpr std::array kTypes{
    TypeRow{StoredType::f64, "F64", 8, true},  TypeRow{StoredType::f32, "F32", 4, true},
    TypeRow{StoredType::f16, "F16", 2, true},  TypeRow{StoredType::bf16, "BF16", 2, true},
    TypeRow{StoredType::i64, "I64", 8, false}, TypeRow{StoredType::i32, "I32", 4, false},
};

const TypeRow& row_of(StoredType type) { return kTypes.at(static_cast<std::size_t>(type)); }

/// Parses the header's JSON piece by piece. Nothing is built from it before it is checked, and no
/// key can hide another with the same name.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  TensorFileHeader take() { return std::move(header_); }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a Boolean"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a number that is not an integer or is too large");
  }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      if (tensor_.shape.size() == kMostStoredAxes) {
        fail(fmt::format("has more than {} axes", kMostStoredAxes));
      }
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        fail("has an extent that is too large");
      }
      tensor_.shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ == Place::offsets) {
      if (offsets_.size() == 2) {
        fail("has more than two data_offsets");
      }
      offsets_.push_back(value);
      return true;
    }
    return unexpected("a number");
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      header_.metadata[member_] = text;
      return true;
    }
    if (place_ != Place::tensor || member_ != "dtype") {
      return unexpected("a string");
    }
    const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const TypeRow& known) { return known.name == text; });
    if (row == kTypes.end()) {
      fail(fmt::format("has dtype {}; F64, F32, F16, BF16, I64 and I32 are accepted",
                       quoted_name(text)));
    }
    tensor_.type = row->type;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::before) {
      place_ = Place::root;
      return true;
    }
    if (place_ != Place::root) {
      return unexpected("an object");
    }
    place_ = name_ == kMetadata ? Place::metadata : Place::tensor;
    seen_.clear();
    tensor_ = {};
    offsets_.clear();
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::root) {
      name_ = name;
      const bool twice =
          name == kMetadata ? std::exchange(has_metadata_, true) : header_.tensors.contains(name);
      if (twice) {
        fail("is listed more than once");
      }
      if (name != kMetadata && header_.tensors.size() == kMostStoredTensors) {
        throw DataError(
            fmt::format("{}: the file has more than {} tensors", file_, kMostStoredTensors));
      }
      return true;
    }
    member_ = name;
    if (place_ == Place::metadata) {
      if (header_.metadata.contains(name)) {
        fail(fmt::format("has the key {} more than once", quoted_name(name)));
      }
      return true;
    }
    if (name != "dtype" && name != "shape" && name != "data_offsets") {
      fail(fmt::format("has the unknown key {}", quoted_name(name)));
    }
    if (std::find(seen_.begin(), seen_.end(), name) != seen_.end()) {
      fail(fmt::format("has the key {} more than once", quoted_name(name)));
    }
    seen_.push_back(name);
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      end_tensor();
    }
    place_ = place_ == Place::root ? Place::behind : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || member_ == "dtype") {
      return unexpected("a list");
    }
    place_ = member_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    throw DataError(fmt::format("{}: the header is not valid JSON (at byte {} of the header)",
                                file_, position));
  }

 private:
  enum class Place { before, root, metadata, tensor, shape, offsets, behind };

  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(fmt::format("{}: tensor {} {}", file_, quoted_name(name_), reason));
  }

  bool unexpected(const char* what) const {
    if (place_ == Place::before) {
      throw DataError(fmt::format("{}: the header is {}, not an object", file_, what));
    }
    if (place_ == Place::root) {
      fail(fmt::format("is {}, not an object", what));
    }
    fail(fmt::format("has {} as {}", what, quoted_name(member_)));
  }

  void end_tensor() {
    for (const char* member : {"dtype", "shape", "data_offsets"}) {
      if (std::find(seen_.begin(), seen_.end(), member) == seen_.end()) {
        fail(fmt::format("has no {}", member));
      }
    }
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1]) {
      fail("has data_offsets that are not a begin and an end");
    }
    tensor_.begin = offsets_[0];
    tensor_.end = offsets_[1];
    // An extent of 0 makes the product 0, whatever the other extents are.
    const bool empty =
        std::find(tensor_.shape.begin(), tensor_.shape.end(), 0) != tensor_.shape.end();
    std::uint64_t bytes = empty ? 0 : size_of(tensor_.type);
    for (const std::int64_t extent : tensor_.shape) {
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
        fail(fmt::format("is too large: {}", shape_text(tensor_.shape)));
      }
    }
    if (bytes != tensor_.end - tensor_.begin) {
      fail(fmt::format("needs {} bytes for {} of {}, but its data_offsets span {}", bytes,
                       shape_text(tensor_.shape), name_of(tensor_.type),
                       tensor_.end - tensor_.begin));
    }
    header_.tensors.emplace(name_, std::move(tensor_));
  }

  const std::string& file_;
  TensorFileHeader header_;
  Place place_ = Place::before;
  bool has_metadata_ = false;
  std::string name_;               // the tensor's
  std::string member_;             // the key within it
  std::vector<std::string> seen_;  // keys within it so far
  StoredTensor tensor_;
  std::vector<std::uint64_t> offsets_;
};

/// Throws DataError unless the tensors are contiguous from 0; returns the end of the last one.
std::uint64_t check_places(const TensorFileHeader& header, const std::string& file) {
  std::vector<std::pair<const std::string*, const StoredTensor*>> order;
  for (const auto& [name, tensor] : header.tensors) {
    order.emplace_back(&name, &tensor);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
  });
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : order) {
    if (tensor->begin < end) {
      throw DataError(fmt::format(
          "{}: tensor {} begins at byte {} of the data, but the previous tensor ends at byte {}",
          file, quoted_name(*name), tensor->begin, end));
    }
    if (tensor->begin > end) {
      throw DataError(fmt::format(
          "{}: tensor {} begins at byte {} of the data, which leaves a gap after byte {}", file,
          quoted_name(*name), tensor->begin, end));
    }
    end = tensor->end;
  }
  return end;
}

}  // namespace

std::string_view name_of(StoredType type) { return row_of(type).name; }
std::uint64_t size_of(StoredType type) { return row_of(type).bytes; }
bool is_floating(StoredType type) { return row_of(type).floating; }

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    if (!text.empty()) {
      text += 'x';
    }
    text += fmt::format("{}", extent);
  }
  return text.empty() ? "scalar" : text;
}

std::string quoted_name(std::string_view name) {
  constexpr std::size_t kMost = 160;
  std::string text(name.substr(0, kMost));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name.size() > kMost ? fmt::format("'{}...'", text) : fmt::format("'{}'", text);
}

TensorFileHeader parse_tensor_file_header(std::string_view json, const std::string& file) {
  if (!json.starts_with('{')) {
    throw DataError(fmt::format("{}: the header does not begin with '{{'", file));
  }
  HeaderReader reader(file);
  check(nlohmann::json::sax_parse(json, &reader), "the header's parser stopped without an error");
  TensorFileHeader header = reader.take();
  header.data_bytes = check_places(header, file);
  return header;
}

}  // namespace bench

#include "pipeline/formats/example_scanner.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "models/base/errors.h"
#include "pipeline/formats/example_writer.h"

namespace bench {
namespace {

using google::protobuf::io::CodedInputStream;

enum WireType : std::uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

constexpr std::uint32_t tag_of(std::uint32_t field, WireType type) { return field << 3U | type; }

constexpr int kDeepestGroup = 100;  // protobuf's limit

/// A cursor over one message or sub-message. All reads return false if the bytes are malformed.
class Wire {
 public:
  explicit Wire(std::string_view bytes)
      : bytes_(bytes),
        input_(reinterpret_cast<const std::uint8_t*>(bytes.data()),
               static_cast<int>(bytes.size())) {}

  [[nodiscard]] bool at_end() const {
    return static_cast<std::size_t>(input_.CurrentPosition()) == bytes_.size();
  }

  bool tag(std::uint32_t& tag) {
    std::uint64_t value = 0;
    if (!short_varint(value)) {
      return false;
    }
    tag = static_cast<std::uint32_t>(value);
    return tag >> 3U != 0;  // a field number of 0 is invalid
  }
  bool varint(std::uint64_t& value) { return input_.ReadVarint64(&value); }
  bool fixed32(std::uint32_t& value) { return input_.ReadLittleEndian32(&value); }

  bool view(std::string_view& value) {
    std::uint64_t length = 0;
    if (!short_varint(length)) {
      return false;
    }
    const auto position = static_cast<std::size_t>(input_.CurrentPosition());
    if (length > bytes_.size() - position) {
      return false;
    }
    value = bytes_.substr(position, length);
    return input_.Skip(static_cast<int>(length));
  }

  bool skip(std::uint32_t tag, int depth = 0) {
    std::uint64_t number = 0;
    std::string_view ignored;
    switch (tag & 7U) {
      case kVarint:
        return varint(number);
      case kFixed64:
        return input_.ReadLittleEndian64(&number);
      case kLength:
        return view(ignored);
      case kFixed32: {
        std::uint32_t word = 0;
        return fixed32(word);
      }
      case kGroup:
        return depth < kDeepestGroup && skip_group(tag >> 3U, depth + 1);
      default:
        return false;
    }
  }

 private:
  /// Tags and lengths have at most 5 bytes in protobuf's parsers.
  bool short_varint(std::uint64_t& value) {
    constexpr int kLongest = 5;
    const int start = input_.CurrentPosition();
    return input_.ReadVarint64(&value) && input_.CurrentPosition() - start <= kLongest;
  }

  bool skip_group(std::uint32_t field, int depth) {
    std::uint32_t inner = 0;
    while (tag(inner)) {
      if (inner == tag_of(field, kEndGroup)) {
        return true;
      }
      if (!skip(inner, depth)) {
        return false;
      }
    }
    return false;
  }

  std::string_view bytes_;
  CodedInputStream input_;
};

void clear(FeatureView& value) {
  value.kind = FeatureView::Kind::none;
  value.bytes.clear();
  value.floats.clear();
  value.ints.clear();
}

/// Calls on_field(wire, tag) for each field of `bytes`; returns false if they are malformed.
template <class OnField>
bool each_field(std::string_view bytes, const OnField& on_field) {
  Wire wire(bytes);
  while (!wire.at_end()) {
    std::uint32_t tag = 0;
    if (!wire.tag(tag) || !on_field(wire, tag)) {
      return false;
    }
  }
  return true;
}

bool read_bytes_list(std::string_view list, std::vector<std::string_view>& out) {
  return each_field(list, [&out](Wire& wire, std::uint32_t tag) {
    return tag == tag_of(1, kLength) ? wire.view(out.emplace_back()) : wire.skip(tag);
  });
}

bool read_float(Wire& wire, std::vector<float>& out) {
  std::uint32_t word = 0;
  if (!wire.fixed32(word)) {
    return false;
  }
  out.push_back(std::bit_cast<float>(word));
  return true;
}

bool read_int(Wire& wire, std::vector<std::int64_t>& out) {
  std::uint64_t word = 0;
  if (!wire.varint(word)) {
    return false;
  }
  out.push_back(static_cast<std::int64_t>(word));
  return true;
}

/// Reads the `repeated` numbers of field 1, packed or one by one.
template <class Number>
bool read_numbers(std::string_view list, WireType type, std::vector<Number>& out,
                  bool (*read)(Wire&, std::vector<Number>&)) {
  return each_field(list, [&](Wire& wire, std::uint32_t tag) {
    if (tag == tag_of(1, type)) {
      return read(wire, out);
    }
    if (tag != tag_of(1, kLength)) {
      return wire.skip(tag);
    }
    std::string_view packed;
    if (!wire.view(packed)) {
      return false;
    }
    Wire numbers(packed);
    while (!numbers.at_end()) {
      if (!read(numbers, out)) {
        return false;
      }
    }
    return true;
  });
}

/// Merges a serialized Feature into `out`. Its kinds are a `oneof`: a different kind replaces, the
/// same kind appends.
bool read_feature(std::string_view feature, FeatureView& out) {
  return each_field(feature, [&out](Wire& wire, std::uint32_t tag) {
    using Kind = FeatureView::Kind;
    Kind kind = Kind::none;
    switch (tag) {
      case tag_of(1, kLength):
        kind = Kind::bytes;
        break;
      case tag_of(2, kLength):
        kind = Kind::floats;
        break;
      case tag_of(3, kLength):
        kind = Kind::ints;
        break;
      default:
        return wire.skip(tag);
    }
    std::string_view list;
    if (!wire.view(list)) {
      return false;
    }
    if (out.kind != kind) {
      clear(out);
      out.kind = kind;
    }
    if (kind == Kind::bytes) {
      return read_bytes_list(list, out.bytes);
    }
    if (kind == Kind::floats) {
      return read_numbers(list, kFixed32, out.floats, read_float);
    }
    return read_numbers(list, kVarint, out.ints, read_int);
  });
}

/// Calls on_entry(bytes) for each entry of an Example's map, or of the map in another field of a
/// message; returns false if it is malformed.
template <class OnEntry>
bool each_entry(std::string_view message, const OnEntry& on_entry, std::uint32_t field = 1) {
  const auto read_features = [&](std::string_view features) {
    return each_field(features, [&](Wire& wire, std::uint32_t tag) {
      std::string_view entry;
      return tag == tag_of(1, kLength) ? wire.view(entry) && on_entry(entry) : wire.skip(tag);
    });
  };
  return each_field(message, [&](Wire& wire, std::uint32_t tag) {
    std::string_view features;
    return tag == tag_of(field, kLength) ? wire.view(features) && read_features(features)
                                         : wire.skip(tag);
  });
}

void check_size(std::string_view message) {
  if (message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw DataError(
        fmt::format("the record has {} bytes; at most 2147483647 are accepted", message.size()));
  }
}

void check_well_formed(bool good) {
  if (!good) {
    throw DataError("the record is not a well-formed tf.train.Example");
  }
}

}  // namespace

ExampleScanner::ExampleScanner(std::vector<std::string> keys)
    : keys_(std::move(keys)), features_(keys_.size()) {}

void ExampleScanner::scan(std::string_view message) {
  check_size(message);
  for (FeatureView& feature : features_) {
    clear(feature);
  }
  const auto read_entry = [this](std::string_view entry) {
    std::string_view key;
    clear(scratch_);
    const bool good = each_field(entry, [&](Wire& wire, std::uint32_t tag) {
      if (tag == tag_of(1, kLength)) {
        return wire.view(key);
      }
      if (tag != tag_of(2, kLength)) {
        return wire.skip(tag);
      }
      std::string_view value;
      return wire.view(value) && read_feature(value, scratch_);
    });
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    if (good && found != keys_.end()) {
      std::swap(features_[static_cast<std::size_t>(found - keys_.begin())], scratch_);
    }
    return good;
  };
  check_well_formed(each_entry(message, read_entry));
}

void read_float_list(std::string_view message, std::string_view name, std::size_t width,
                     std::vector<float>& floats) {
  check_size(message);
  constexpr std::uint32_t kFeatureLists = 2;
  bool found = false;
  std::optional<std::string> misfit;
  FeatureView item;
  const auto read_item = [&](Wire& wire, std::uint32_t tag) {
    if (tag != tag_of(1, kLength)) {
      return wire.skip(tag);
    }
    std::string_view feature;
    clear(item);
    if (!wire.view(feature) || !read_feature(feature, item)) {
      return false;
    }
    if (item.kind != FeatureView::Kind::floats || item.floats.size() != width) {
      misfit = fmt::format("item {} of {} is not a list of {} floats", floats.size() / width, name,
                           width);
    }
    floats.insert(floats.end(), item.floats.begin(), item.floats.end());
    return true;
  };
  const auto read_entry = [&](std::string_view entry) {
    std::string_view key;
    std::string_view list;
    const bool good = each_field(entry, [&](Wire& wire, std::uint32_t tag) {
      if (tag == tag_of(1, kLength)) {
        return wire.view(key);
      }
      return tag == tag_of(2, kLength) ? wire.view(list) : wire.skip(tag);
    });
    if (!good || key != name) {
      return good;
    }
    found = true;
    misfit.reset();
    floats.clear();
    return each_field(list, read_item);
  };
  check_well_formed(each_entry(message, read_entry, kFeatureLists));
  if (!found) {
    throw DataError(fmt::format("the feature list {} is missing", name));
  }
  if (misfit) {
    throw DataError(*misfit);
  }
}

std::string with_bytes(std::string_view message, std::string_view key, std::string_view value) {
  check_size(message);
  ExampleWriter writer;
  const auto copy = [&](std::string_view entry) {
    std::string_view name;
    const bool good = each_field(entry, [&](Wire& wire, std::uint32_t tag) {
      return tag == tag_of(1, kLength) ? wire.view(name) : wire.skip(tag);
    });
    if (good && name != key) {
      writer.entry(entry);
    }
    return good;
  };
  check_well_formed(each_entry(message, copy));
  return writer.bytes(key, value).serialize();
}

}  // namespace bench

#include "pipeline/formats/example_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <bit>

namespace bench {
namespace {

using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

/// Appends field `field` with `value` in the wire format of strings, messages and packed numbers.
void append_field(std::string& out, int field, std::string_view value) {
  StringOutputStream stream(&out);
  CodedOutputStream coded(&stream);
  coded.WriteTag(static_cast<std::uint32_t>(field) << 3U | 2U);
  coded.WriteVarint64(value.size());
  coded.WriteRaw(value.data(), static_cast<int>(value.size()));
}

std::string field_of(int field, std::string_view value) {
  std::string out;
  append_field(out, field, value);
  return out;
}

constexpr int kBytesList = 1;
constexpr int kFloatList = 2;
constexpr int kInt64List = 3;

}  // namespace

void ExampleWriter::add(std::string_view key, int kind, std::string_view list) {
  const std::string feature = field_of(kind, list);
  append_field(entries_, 1, field_of(1, key) + field_of(2, feature));
}

ExampleWriter& ExampleWriter::bytes(std::string_view key, std::string_view value) {
  add(key, kBytesList, field_of(1, value));
  return *this;
}

ExampleWriter& ExampleWriter::ints(std::string_view key, std::span<const std::int64_t> values) {
  std::string packed;
  {
    StringOutputStream stream(&packed);
    CodedOutputStream coded(&stream);
    for (const std::int64_t value : values) {
      coded.WriteVarint64(static_cast<std::uint64_t>(value));
    }
  }
  add(key, kInt64List, field_of(1, packed));
  return *this;
}

ExampleWriter& ExampleWriter::integer(std::string_view key, std::int64_t value) {
  return ints(key, {&value, 1});
}

ExampleWriter& ExampleWriter::floats(std::string_view key, std::span<const float> values) {
  std::string packed;
  {
    StringOutputStream stream(&packed);
    CodedOutputStream coded(&stream);
    for (const float value : values) {
      coded.WriteLittleEndian32(std::bit_cast<std::uint32_t>(value));
    }
  }
  add(key, kFloatList, field_of(1, packed));
  return *this;
}

ExampleWriter& ExampleWriter::entry(std::string_view serialized) {
  append_field(entries_, 1, serialized);
  return *this;
}

std::string ExampleWriter::serialize() const { return field_of(1, entries_); }

}  // namespace bench

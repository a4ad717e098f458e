#include "models/base/tensor_file_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What a header is refused with, or "accepted".
std::string refusal(const std::string& json) {
  try {
    parse_tensor_file_header(json, "w.safetensors");
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

/// A header with the one tensor `a`.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"a":{}}})", entry(dtype, shape, offsets));
}

TEST(TensorFileHeader, GivesTypesShapesOffsetsAndMetadata) {
  const TensorFileHeader header = parse_tensor_file_header(
      fmt::format(R"({{"b":{},"__metadata__":{{"format":"pt"}},"a":{},"none":{}}}  )",
                  entry("I64", "[]", "[24,32]"), entry("F32", "[2,3]", "[0,24]"),
                  entry("F16", "[0,7]", "[24,24]")),
      "f");
  ASSERT_EQ(header.tensors.size(), 3U);
  const StoredTensor& a = header.tensors.at("a");
  EXPECT_EQ(a.type, StoredType::f32);
  EXPECT_THAT(a.shape, testing::ElementsAre(2, 3));
  EXPECT_EQ(a.elements(), 6U);
  EXPECT_EQ(header.tensors.at("b").begin, 24U);
  EXPECT_TRUE(header.tensors.at("b").shape.empty());
  EXPECT_EQ(header.tensors.at("none").elements(), 0U);
  EXPECT_EQ(header.metadata.at("format"), "pt");
  EXPECT_EQ(header.data_bytes, 32U);
  EXPECT_EQ(parse_tensor_file_header("{}", "f").data_bytes, 0U);
}

TEST(TensorFileHeader, RefusesTextThatIsNotAJsonObject) {
  EXPECT_THAT(refusal(""), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(" {}"), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal("[]"), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal("{"), HasSubstr("not valid JSON (at byte "));
  EXPECT_THAT(refusal("{}x"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("{\"\xff\":1}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(R"({"a":1})"), HasSubstr("tensor 'a' is a number, not an object"));
  EXPECT_THAT(refusal(R"({"a":null})"), HasSubstr("tensor 'a' is null, not an object"));
  EXPECT_THAT(refusal(R"({"a":[1]})"), HasSubstr("tensor 'a' is a list, not an object"));
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("does not begin"));
  EXPECT_THAT(refusal(R"({"a":)" + std::string(100'000, '[')), HasSubstr("is a list"));
}

TEST(TensorFileHeader, RefusesAnIncompleteOrStrangeEntry) {
  EXPECT_THAT(refusal(R"({"a":{}})"), HasSubstr("tensor 'a' has no dtype"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[]}})"), HasSubstr("has no data_offsets"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})"), HasSubstr("has no shape"));
  EXPECT_THAT(refusal(R"({"a":{"extra":1}})"), HasSubstr("has the unknown key 'extra'"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":{}}})"), HasSubstr("has an object as 'dtype'"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":[]}})"), HasSubstr("has a list as 'dtype'"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":7}})"), HasSubstr("has a number as 'dtype'"));
  EXPECT_THAT(refusal(R"({"a":{"shape":"x"}})"), HasSubstr("has a string as 'shape'"));
  EXPECT_THAT(refusal(R"({"a":{"shape":[[1]]}})"), HasSubstr("has a list as 'shape'"));
  EXPECT_THAT(refusal(R"({"a":{"shape":[true]}})"), HasSubstr("has a Boolean as 'shape'"));
  EXPECT_THAT(refusal(one("F8", "[1]", "[0,1]")), HasSubstr("has dtype 'F8'; F64, F32"));
}

TEST(TensorFileHeader, RefusesInvalidSizes) {
  EXPECT_THAT(refusal(one("F32", "[-1]", "[0,4]")), HasSubstr("a negative number as 'shape'"));
  EXPECT_THAT(refusal(one("F32", "[1.0]", "[0,4]")), HasSubstr("not an integer or is too large"));
  EXPECT_THAT(refusal(one("F32", "[99999999999999999999]", "[0,4]")), HasSubstr("too large"));
  EXPECT_THAT(refusal(one("F32", "[9223372036854775808]", "[0,4]")), HasSubstr("too large"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[0,4,8]")), HasSubstr("more than two data_offsets"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[0]")), HasSubstr("not a begin and an end"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[4,0]")), HasSubstr("not a begin and an end"));
  EXPECT_THAT(refusal(one("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]")),
              HasSubstr("more than 16 axes"));
}

TEST(TensorFileHeader, RefusesSizesThatDoNotFitTheirShapeEvenWhenProductsOverflow) {
  EXPECT_EQ(
      refusal(one("F32", "[2,2]", "[0,15]")),
      "w.safetensors: tensor 'a' needs 16 bytes for 2x2 of F32, but its data_offsets span 15");
  // 2^32 * 2^32 * 4 is 0 in 64 bits.
  EXPECT_THAT(refusal(one("F32", "[4294967296,4294967296]", "[0,0]")), HasSubstr("is too large"));
  EXPECT_THAT(refusal(one("F64", "[4611686018427387904]", "[0,0]")), HasSubstr("is too large"));
  EXPECT_EQ(refusal(one("F32", "[4294967296,4294967296,0]", "[0,0]")), "accepted");
}

TEST(TensorFileHeader, RefusesHolesAndOverlaps) {
  const auto two = [](const std::string& first, const std::string& second) {
    return refusal(fmt::format(R"({{"a":{},"b":{}}})", entry("F32", "[2]", first),
                               entry("F32", "[2]", second)));
  };
  EXPECT_EQ(two("[8,16]", "[0,8]"), "accepted");
  EXPECT_EQ(
      two("[0,8]", "[12,20]"),
      "w.safetensors: tensor 'b' begins at byte 12 of the data, which leaves a gap after byte 8");
  EXPECT_THAT(
      two("[0,8]", "[4,12]"),
      HasSubstr("tensor 'b' begins at byte 4 of the data, but the previous tensor ends at byte 8"));
  EXPECT_THAT(two("[0,8]", "[0,8]"), HasSubstr("but the previous tensor ends at byte 8"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[4,8]")), HasSubstr("leaves a gap after byte 0"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[18446744073709551611,18446744073709551615]")),
              HasSubstr("leaves a gap after byte 0"));
}

TEST(TensorFileHeader, RefusesDuplicateNames) {
  const std::string tensor = entry("F32", "[0]", "[0,0]");
  EXPECT_EQ(refusal(fmt::format(R"({{"a":{},"a":{}}})", tensor, tensor)),
            "w.safetensors: tensor 'a' is listed more than once");
  // The same name in other letters of JSON.
  EXPECT_THAT(refusal(fmt::format(R"({{"a":{},"\u0061":{}}})", tensor, tensor)),
              HasSubstr("is listed more than once"));
  EXPECT_THAT(refusal(R"({"__metadata__":{},"__metadata__":{}})"),
              HasSubstr("is listed more than once"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"k":"1","k":"2"}})"),
              HasSubstr("the key 'k' more than once"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","dtype":"F32"}})"),
              HasSubstr("'dtype' more than once"));
}

TEST(TensorFileHeader, RefusesMetadataThatIsNotText) {
  EXPECT_THAT(refusal(R"({"__metadata__":{"k":1}})"), HasSubstr("has a number as 'k'"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"k":{}}})"), HasSubstr("has an object as 'k'"));
  EXPECT_THAT(refusal(R"({"__metadata__":[]})"), HasSubstr("is a list, not an object"));
}

TEST(TensorFileHeader, RefusesMoreTensorsThanTheLimit) {
  const auto with = [](std::size_t count) {
    std::string json = "{";
    for (std::size_t i = 0; i < count; ++i) {
      json += fmt::format(R"({}"{}":{})", i == 0 ? "" : ",", i, entry("F32", "[0]", "[0,0]"));
    }
    return refusal(json + "}");
  };
  EXPECT_EQ(with(kMostStoredTensors), "accepted");
  EXPECT_EQ(with(kMostStoredTensors + 1), "w.safetensors: the file has more than 65536 tensors");
}

TEST(TensorFileHeader, PrintsNamesEscapedAndShortened) {
  EXPECT_EQ(quoted_name("a\x1b[2Jb\n"), "'a?[2Jb?'");
  EXPECT_THAT(quoted_name(std::string(1000, 'x')), AllOf(StartsWith("'xxx"), HasSubstr("...'")));
  EXPECT_LT(quoted_name(std::string(1000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace bench

#include "pipeline/formats/example_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "example.pb.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/formats/example_writer.h"

namespace bench {
namespace {

using Kind = FeatureView::Kind;

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) {
    out += static_cast<char>(value | 0x80U);
  }
  return out + static_cast<char>(value);
}

/// A length-delimited field.
std::string field(std::uint32_t number, const std::string& value) {
  return varint(number << 3U | 2U) + varint(value.size()) + value;
}

/// An unknown field of any wire type, groups included.
std::string unknown_field(RandomStream& random) {
  const std::uint32_t number = 100 + random.below(1000);
  switch (random.below(5)) {
    case 0:
      return varint(number << 3U) + varint(random.bits());
    case 1:
      return varint(number << 3U | 1U) + std::string(8, 'q');
    case 2:
      return field(number, std::string(random.below(20), 'u'));
    case 3:
      return varint(number << 3U | 5U) + "4444";
    default:
      return varint(number << 3U | 3U) + field(7, "inner") + varint(9U << 3U | 3U) +
             varint(9U << 3U | 4U) + varint(number << 3U | 4U);
  }
}

std::string random_feature(RandomStream& random) {
  std::string list;
  const std::uint32_t count = random.below(5);
  const std::uint32_t kind = 1 + random.below(3);
  std::string packed;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool one_by_one = random.below(2) == 0;
    if (kind == 1) {
      list += field(1, std::string(random.below(40), static_cast<char>('a' + random.below(26))));
    } else if (kind == 2) {
      const std::string number(4, static_cast<char>(random.below(100)));
      list += one_by_one ? varint(1U << 3U | 5U) + number : field(1, number + number);
    } else {
      const std::uint64_t value =
          random.below(2) == 0 ? random.bits() : ~std::uint64_t{random.bits()};
      list += one_by_one ? varint(1U << 3U) + varint(value) : field(1, varint(value) + varint(7));
    }
    if (random.below(6) == 0) {
      list += unknown_field(random);
    }
  }
  std::string feature = random.below(10) == 0 ? "" : field(kind, list);
  if (random.below(4) == 0) {
    feature += field(1 + random.below(3), "");
  }
  return feature;
}

const std::vector<std::string>& keys() {
  static const std::vector<std::string> kKeys = {"a", "b", "image/encoded", ""};
  return kKeys;
}

std::string random_message(RandomStream& random) {
  std::string message;
  const std::uint32_t parts = 1 + random.below(3);
  for (std::uint32_t part = 0; part < parts; ++part) {
    std::string features;
    const std::uint32_t entries = random.below(8);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const std::vector<std::string> names = {"a", "b", "image/encoded", "other", ""};
      const std::string key = field(1, names[random.below(5)]);
      const std::string value = field(2, random_feature(random));
      std::string entry = random.below(2) == 0 ? key + value : value + key;
      if (random.below(6) == 0) {
        entry += random.below(2) == 0 ? unknown_field(random) : field(2, random_feature(random));
      }
      features += field(1, random.below(12) == 0 ? key : entry);
      if (random.below(6) == 0) {
        features += unknown_field(random);
      }
    }
    message += field(1, features);
    if (random.below(6) == 0) {
      message += unknown_field(random);
    }
  }
  return message;
}

void expect_same(const FeatureView& ours, const oracle::Feature& theirs) {
  switch (theirs.kind_case()) {
    case oracle::Feature::kBytesList:
      EXPECT_EQ(ours.kind, Kind::bytes);
      EXPECT_TRUE(std::equal(ours.bytes.begin(), ours.bytes.end(),
                             theirs.bytes_list().value().begin(),
                             theirs.bytes_list().value().end()));
      break;
    case oracle::Feature::kFloatList:
      EXPECT_EQ(ours.kind, Kind::floats);
      EXPECT_TRUE(std::equal(ours.floats.begin(), ours.floats.end(),
                             theirs.float_list().value().begin(),
                             theirs.float_list().value().end()));
      break;
    case oracle::Feature::kInt64List:
      EXPECT_EQ(ours.kind, Kind::ints);
      EXPECT_TRUE(std::equal(ours.ints.begin(), ours.ints.end(),
                             theirs.int64_list().value().begin(),
                             theirs.int64_list().value().end()));
      break;
    default:
      EXPECT_EQ(ours.kind, Kind::none);
  }
}

void expect_same(ExampleScanner& scanner, const oracle::Example& theirs) {
  const auto& map = theirs.features().feature();
  for (std::size_t i = 0; i < keys().size(); ++i) {
    const auto found = map.find(keys()[i]);
    expect_same(scanner.feature(i), found == map.end() ? oracle::Feature() : found->second);
  }
}

/// Checks that both parsers agree; the last entry of a key counts.
void expect_same(ExampleScanner& scanner, const oracle::RawExample& theirs) {
  for (std::size_t i = 0; i < keys().size(); ++i) {
    oracle::Feature last;
    for (const oracle::Entry& entry : theirs.features().feature()) {
      if (entry.key() == keys()[i]) {
        last = entry.value();
      }
    }
    expect_same(scanner.feature(i), last);
  }
}

TEST(ExampleScanner, AgreesWithTheGeneratedParserOnRandomMessages) {
  RandomStream random(20);
  ExampleScanner scanner(keys());
  for (int round = 0; round < 5000; ++round) {
    const std::string message = random_message(random);
    oracle::Example theirs;
    ASSERT_TRUE(theirs.ParseFromString(message)) << round;
    ASSERT_NO_THROW(scanner.scan(message)) << round;
    expect_same(scanner, theirs);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TEST(ExampleScanner, AgreesWithTheGeneratedParserOnDamagedMessages) {
  RandomStream random(21);
  ExampleScanner scanner(keys());
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string message = random_message(random);
    if (message.empty()) {
      continue;
    }
    for (std::uint32_t i = random.below(3) + 1; i > 0; --i) {
      const auto place = random.below(static_cast<std::uint32_t>(message.size()));
      message[place] = static_cast<char>(random.bits());
    }
    message.resize(message.size() - random.below(2));
    oracle::RawExample theirs;
    const bool good = theirs.ParseFromString(message);
    try {
      scanner.scan(message);
      ASSERT_TRUE(good) << "round " << round << ": only we accept";
      expect_same(scanner, theirs);
      ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
      ++accepted;
    } catch (const DataError&) {
      ASSERT_FALSE(good) << "round " << round << ": only we refuse";
      ++refused;
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(ExampleScanner, RefusesLengthsOfMoreBytesThanTheGeneratedParser) {
  ExampleScanner scanner(keys());
  for (const std::size_t bytes : {1U, 5U, 6U, 10U}) {
    // A field 1 of length 0.
    const std::string message = "\n" + std::string(bytes - 1, '\x80') + std::string(1, '\0');
    oracle::RawExample theirs;
    EXPECT_EQ(theirs.ParseFromString(message), bytes <= 5) << bytes;
    if (bytes <= 5) {
      EXPECT_NO_THROW(scanner.scan(message)) << bytes;
    } else {
      EXPECT_THROW(scanner.scan(message), DataError) << bytes;
    }
  }
}

TEST(ExampleScanner, PointsIntoTheMessage) {
  const std::string image(5000, 'i');
  const std::string message =
      ExampleWriter().bytes("other", "x").bytes("image/encoded", image).serialize();
  ExampleScanner scanner({"image/encoded"});
  scanner.scan(message);
  ASSERT_EQ(scanner.feature(0).bytes.size(), 1U);
  const std::string_view view = scanner.feature(0).bytes.front();
  EXPECT_EQ(view, image);
  EXPECT_GE(view.data(), message.data());
  EXPECT_LE(view.data() + view.size(), message.data() + message.size());
}

TEST(ExampleScanner, ForgetsTheLastMessage) {
  ExampleScanner scanner({"n"});
  scanner.scan(ExampleWriter().integer("n", -1).serialize());
  EXPECT_EQ(scanner.feature(0).ints, std::vector<std::int64_t>{-1});
  scanner.scan("");
  EXPECT_EQ(scanner.feature(0).kind, Kind::none);
}

TEST(ExampleScanner, ReportsADataErrorForEveryTruncatedMessage) {
  const std::string message = ExampleWriter()
                                  .bytes("image/encoded", "jpeg")
                                  .integer("label", 1LL << 60)
                                  .floats("x", std::vector<float>{0.5F, 1.0F})
                                  .serialize();
  ExampleScanner scanner({"image/encoded", "label", "x"});
  for (std::size_t length = 1; length < message.size(); ++length) {
    const std::string cut = message.substr(0, length);
    EXPECT_THROW(scanner.scan(cut), DataError) << length;
  }
}

TEST(ExampleWriter, WritesWhatTheGeneratedParserReads) {
  const std::vector<float> floats = {0.25F, -1.0F};
  const std::vector<std::int64_t> ints = {0, -5, 1LL << 40};
  const std::string message =
      ExampleWriter().bytes("b", "bytes").ints("i", ints).floats("f", floats).serialize();
  oracle::Example example;
  ASSERT_TRUE(example.ParseFromString(message));
  const auto& map = example.features().feature();
  EXPECT_EQ(map.size(), 3U);
  EXPECT_EQ(map.at("b").bytes_list().value(0), "bytes");
  EXPECT_TRUE(std::equal(ints.begin(), ints.end(), map.at("i").int64_list().value().begin()));
  EXPECT_TRUE(std::equal(floats.begin(), floats.end(), map.at("f").float_list().value().begin()));
}

}  // namespace
}  // namespace bench

#include "pipeline/formats/pickle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using testing::HasSubstr;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

/// {'a': [1, 300, 70000, -2, True, None], b'k': (1, 2, 3), 'n': numpy.array([[7, 8, 9]], 'uint8')},
/// written by Python 3.11 and NumPy 2.4 with protocols 3 and 4.
std::vector<std::string> python_pickles() {
  return {from_hex(
              "80037d71002858010000006171015d7102284b014d2c014a701101004afeffffff884e6543016b71034b"
              "014b024b0387710458010000006e7105636e756d70792e5f636f72652e6d756c746961727261790a5f72"
              "65636f6e7374727563740a7106636e756d70790a6e6461727261790a71074b0085710843016271098771"
              "0a52710b284b014b014b0386710c636e756d70790a64747970650a710d58020000007531710e89888771"
              "0f527110284b0358010000007c71114e4e4e4affffffff4affffffff4b00747112628943030708097113"
              "74711462752e"),
          from_hex(
              "800495bb000000000000007d94288c0161945d94284b014d2c014a701101004afeffffff884e6543016b"
              "944b014b024b0387948c016e948c166e756d70792e5f636f72652e6d756c74696172726179948c0c5f72"
              "65636f6e7374727563749493948c056e756d7079948c076e6461727261799493944b0085944301629487"
              "945294284b014b014b03869468098c0564747970659493948c02753194898887945294284b038c017c94"
              "4e4e4e4affffffff4affffffff4b0074946289430307080994749462752e")};
}

TEST(Pickle, HasTheValuesThatPythonWrote) {
  for (const std::string& bytes : python_pickles()) {
    const Pickle pickle(bytes);
    const PickleValue* const list = pickle.root().member("a");
    ASSERT_TRUE(list != nullptr && list->sequence() != nullptr);
    std::vector<std::int64_t> numbers;
    for (const PickleValue* const value : *list->sequence()) {
      numbers.push_back(value->integer() != nullptr ? *value->integer() : 999);
    }
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 300, 70000, -2, 1, 999}));
    EXPECT_EQ(pickle.root().member("k")->sequence()->size(), 3U);
    EXPECT_EQ(pickle.root().member("absent"), nullptr);
    const PickleValue::Object* const array = pickle.root().member("n")->object();
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(array->global, "numpy._core.multiarray._reconstruct");
    EXPECT_EQ(*array->state->sequence()->back()->text(), "\x07\x08\x09");
  }
}

TEST(Pickle, IsRefusedAtTheOffsetOfTheDamage) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the file is empty"},
      {"pickle", "this is not a pickle of protocol 2 or later"},
      {"\x80\x05", "the pickle has protocol 5; bench reads 2 to 4"},
      {"\x80\x02K", "offset 3: the pickle is truncated"},
      {"\x80\x02.", "offset 3: the pickle is damaged: a value is missing"},
      {"\x80\x02t.", "a mark is missing"},
      {"\x80\x02h\x05.", "it refers to a value that it does not have"},
      {"\x80\x02}K\x01K\x02]s.", "a value has an unexpected type"},
      {"\x80\x02}(K\x01u.", "a key has no value"},
      {"\x80\x02K\x01K\x02R.", "a value has an unexpected type"},
      {"\x80\x02" + std::string("cmodule\n") + std::string(300, 'x') + "\n.", "a name is too long"},
      {"\x80\x02i", "the pickle's operation 0x69 is not supported"},
      {"\x80\x02" + std::string((1 << 20) + 1, 'N') + ".", "more than 1048576 operations"}};
  for (const auto& [bytes, message] : cases) {
    EXPECT_THAT(test::message_of<DataError>([&, &pickle = bytes] { Pickle{pickle}; }),
                HasSubstr(message));
  }
}

}  // namespace
}  // namespace bench

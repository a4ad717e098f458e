#include "models/base/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A file with these parts, in a separate folder.
class MadeFile {
 public:
  explicit MadeFile(const std::string& contents) {
    std::ofstream(path(), std::ios::binary) << contents;
  }
  MadeFile(const std::string& json, const std::string& data)
      : MadeFile(raw<std::uint64_t>({json.size()}) + json + data) {}
  [[nodiscard]] fs::path path() const { return folder_.path() / "f.safetensors"; }

 private:
  ScratchFolder folder_;
};

/// Reads the only tensor of a file, `t`, as floats.
std::vector<float> floats_of(const std::string& dtype, std::size_t count, const std::string& data) {
  const MadeFile made(fmt::format(R"({{"t":{{"dtype":"{}","shape":[{}],"data_offsets":[0,{}]}}}})",
                                  dtype, count, data.size()),
                      data);
  const TensorFile file(made.path());
  std::vector<float> values(count);
  file.read(*file.find("t"), 0, values);
  return values;
}

TEST(TensorFile, ReadsEveryFloatingTypeAsFloats) {
  EXPECT_THAT(floats_of("F32", 2, raw<float>({1.5F, -3})), ElementsAre(1.5F, -3));
  EXPECT_THAT(floats_of("F64", 2, raw<double>({0.1, -1e300})),
              ElementsAre(0.1F, -std::numeric_limits<float>::infinity()));
  EXPECT_THAT(floats_of("BF16", 3, raw<std::uint16_t>({0x3F80, 0xC020, 0x7F80})),
              ElementsAre(1, -2.5F, std::numeric_limits<float>::infinity()));
}

TEST(TensorFile, ReadsContentsInMemory) {
  const std::string json =
      R"({"__metadata__":{"key":"value"},"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string contents = raw<std::uint64_t>({json.size()}) + json + raw<float>({1.5F, -2});
  const TensorFile file("its name", contents);
  EXPECT_EQ(file.name(), "its name");
  EXPECT_EQ(file.metadata().at("key"), "value");
  std::vector<float> read(2);
  file.read(*file.find("t"), 0, read);
  EXPECT_THAT(read, ElementsAre(1.5F, -2));
  EXPECT_THROW(TensorFile("short", std::string_view(contents).substr(0, contents.size() - 1)),
               DataError);
}

TEST(TensorFile, ReadsHalfPrecisionWithItsSubnormalsInfinitiesAndNans) {
  const auto values = floats_of(
      "F16", 9,
      raw<std::uint16_t>({0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x83FF, 0xFC00, 0x8000, 0x7E00}));
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(values[2], 65504);
  EXPECT_EQ(values[3], std::ldexp(1.0F, -14));
  EXPECT_EQ(values[4], std::ldexp(1.0F, -24));
  EXPECT_EQ(values[5], -std::ldexp(1023.0F, -24));
  EXPECT_EQ(values[6], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(values[7] == 0 && std::signbit(values[7]));
  EXPECT_TRUE(std::isnan(values[8]));
}

TEST(TensorFile, WritesWhatItReads) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "w.safetensors";
  std::vector<double> numbers(20'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = 1.0 / static_cast<double>(i + 1);
  }
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> small = {-7};
  const std::vector<std::int64_t> labels = {std::int64_t{1} << 40, -1};
  const std::vector<TensorToWrite> tensors = {
      {"conv.weight", StoredType::f32, {2, 3}, std::as_bytes(std::span(weights))},
      {"small", StoredType::i32, {}, std::as_bytes(std::span(small))},
      {"labels", StoredType::i64, {2}, std::as_bytes(std::span(labels))},
      {"numbers", StoredType::f64, {20'000}, std::as_bytes(std::span(numbers))},
      {"none", StoredType::f32, {0, 3}, {}},
  };
  write_tensor_file(AtomicFile(path), tensors, {{"format", "bench"}, {"note", "\"quoted\"\n"}});

  const TensorFile file(path);
  EXPECT_EQ(file.size_bytes(), fs::file_size(path));
  EXPECT_EQ(file.metadata().at("note"), "\"quoted\"\n");
  ASSERT_EQ(file.tensors().size(), 5U);
  EXPECT_EQ(file.find("absent"), nullptr);
  std::vector<float> read_weights(4);
  file.read(*file.find("conv.weight"), 2, read_weights);
  EXPECT_THAT(read_weights, ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(file.find("conv.weight")->shape, ElementsAre(2, 3));
  std::vector<std::int64_t> whole(1);
  file.read(*file.find("small"), 0, whole);
  EXPECT_EQ(whole[0], -7);
  file.read(*file.find("labels"), 0, whole);
  EXPECT_EQ(whole[0], labels[0]);
  std::vector<double> read_numbers(numbers.size());
  file.read(*file.find("numbers"), 0, read_numbers);
  EXPECT_EQ(read_numbers, numbers);
  // Longer than the piece that is converted at once.
  std::vector<float> narrow(numbers.size());
  file.read(*file.find("numbers"), 0, narrow);
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    ASSERT_EQ(narrow[i], static_cast<float>(numbers[i])) << i;
  }
  for (const auto& [name, tensor] : file.tensors()) {
    EXPECT_EQ(tensor.begin % size_of(tensor.type), 0U) << name;
  }
}

TEST(TensorFile, RefusesAHeaderThatIsLongerThanTheFileOrTheLimit) {
  const auto refusal = [](const MadeFile& made, const std::string& words) {
    EXPECT_THAT([&] { TensorFile file(made.path()); }, ThrowsMessage<DataError>(HasSubstr(words)));
  };
  refusal(MadeFile(""), "0 bytes are too few");
  refusal(MadeFile("1234567"), "7 bytes are too few");
  refusal(MadeFile(raw<std::uint64_t>({3}) + "{}"),
          "the header length is 3 bytes, but the whole file has 10");
  refusal(MadeFile(raw<std::uint64_t>({0xFFFFFFFFFFFFFFFF}) + "{}"), "at most 16000000");
  refusal(MadeFile(raw<std::uint64_t>({16'000'001}) + "{}"), "at most 16000000");
  refusal(MadeFile(raw<std::uint64_t>({0})), "does not begin with '{'");
}

TEST(TensorFile, RefusesDataThatDoesNotMatchItsHeader) {
  const std::string json = R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const auto refusal = [&](std::size_t bytes, const std::string& words) {
    const MadeFile made(json, std::string(bytes, 'x'));
    EXPECT_THAT([&] { TensorFile file(made.path()); }, ThrowsMessage<DataError>(HasSubstr(words)));
  };
  refusal(7, "describes 8 bytes of data, but the file contains 7");
  refusal(9, "describes 8 bytes of data, but the file contains 9");
  EXPECT_NO_THROW(TensorFile(MadeFile(json, std::string(8, 'x')).path()));
}

TEST(TensorFile, RefusesAPipeOrFolderWithoutWaiting) {
  const ScratchFolder folder;
  const auto refusal = [](const fs::path& path, const std::string& words) {
    EXPECT_THAT([&] { TensorFile file(path); }, ThrowsMessage<UsageError>(HasSubstr(words)));
  };
  refusal(folder.path() / "absent", "No such file");
  refusal(folder.path(), "it is not a regular file");
  ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  refusal(folder.path() / "pipe", "it is not a regular file");
}

TEST(TensorFile, ReportsAFileThatWasCutAfterItWasOpened) {
  const MadeFile made(R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                      raw<float>({1, 2}));
  const TensorFile file(made.path());
  fs::resize_file(made.path(), 40);
  std::vector<float> values(2);
  EXPECT_THAT([&] { file.read(*file.find("t"), 0, values); },
              ThrowsMessage<DataError>(HasSubstr("was truncated after it was opened")));
}

TEST(TensorFile, RefusesReadsOfAnotherTypeOrSize) {
  const MadeFile made(R"({"t":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})",
                      raw<std::int32_t>({1, 2}));
  const TensorFile file(made.path());
  std::vector<float> floats(2);
  std::vector<std::int64_t> whole(2);
  EXPECT_THROW(file.read(*file.find("t"), 0, floats), InternalError);
  EXPECT_THROW(file.read(*file.find("t"), 1, whole), InternalError);
}

TEST(TensorFile, IsNotWrittenWithDuplicateNamesOrWrongSizes) {
  const ScratchFolder folder;
  const AtomicFile target(folder.path() / "w");
  const std::vector<float> data(2);
  const TensorToWrite good{"a", StoredType::f32, {2}, std::as_bytes(std::span(data))};
  const TensorToWrite bad{"b", StoredType::f32, {3}, std::as_bytes(std::span(data))};
  EXPECT_THROW(write_tensor_file(target, std::vector{good, good}, {}), InternalError);
  EXPECT_THROW(write_tensor_file(target, std::vector{bad}, {}), InternalError);
}

}  // namespace
}  // namespace bench

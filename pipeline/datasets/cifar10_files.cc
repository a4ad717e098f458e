#include "pipeline/datasets/cifar10_files.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "models/base/errors.h"
#include "pipeline/formats/input_file.h"
#include "pipeline/formats/pickle_reader.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

constexpr std::size_t kImageBytes = kCifarRecordBytes - 1;
constexpr std::size_t kRecordsPerFile = 10000;
/// The limit for all files together; CIFAR-10 itself has a sixth of that.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

/// The records of a file, one after the other.
struct FileRecords {
  std::shared_ptr<const char[]> bytes;
  std::size_t count = 0;
  /// Where the file has the first one, and the distance to the next.
  std::size_t offset = 0;
  std::size_t step = kCifarRecordBytes;
};

FileRecords read_binary(const InputFile& file, std::size_t size) {
  if (size == 0 || size % kCifarRecordBytes != 0) {
    throw DataError(
        fmt::format("{}: {} bytes are not a whole number of CIFAR-10 records of {} bytes",
                    file.path(), size, kCifarRecordBytes));
  }
  auto bytes = std::make_shared_for_overwrite<char[]>(size);
  file.read_first(bytes.get(), size);
  return {.bytes = std::move(bytes), .count = size / kCifarRecordBytes};
}

/// The elements of a NumPy array of shape (rows, 3072) and type uint8.
std::string_view elements_of(const PickleValue& array, std::size_t rows) {
  const PickleValue::Object* const object = array.object();
  const bool is_array = object != nullptr && object->global.starts_with("numpy.") &&
                        object->global.ends_with("._reconstruct") && object->state != nullptr;
  const PickleValue::Sequence* const state = is_array ? object->state->sequence() : nullptr;
  // NumPy's state: version, shape, type, order, elements.
  if (state == nullptr || state->size() != 5) {
    throw DataError("'data' is not a NumPy array");
  }
  const PickleValue::Sequence* const shape = (*state)[1]->sequence();
  const PickleValue::Object* const type = (*state)[2]->object();
  const PickleValue::Sequence* const type_name =
      type != nullptr && type->arguments != nullptr ? type->arguments->sequence() : nullptr;
  const bool is_u8 = type_name != nullptr && !type_name->empty() &&
                     type_name->front()->text() != nullptr && *type_name->front()->text() == "u1";
  const auto is = [](const PickleValue& value, std::size_t expected) {
    return value.integer() != nullptr && std::cmp_equal(*value.integer(), expected);
  };
  if (!is_u8 || shape == nullptr || shape->size() != 2 || !is(*(*shape)[0], rows) ||
      !is(*(*shape)[1], kImageBytes)) {
    throw DataError(
        fmt::format("'data' must be an array of uint8 with {} rows, one per label, of {} elements",
                    rows, kImageBytes));
  }
  const std::string_view* const elements = (*state)[4]->text();
  if (!is(*(*state)[3], 0) || elements == nullptr || elements->size() != rows * kImageBytes) {
    throw DataError("'data' must be stored as bytes in row-major order");
  }
  return *elements;
}

const PickleValue& member(const PickleValue& batch, std::string_view name) {
  const PickleValue* const value = batch.member(name);
  if (value == nullptr) {
    throw DataError(fmt::format(
        "this is not a dictionary with '{}', or Python 3 wrote it with protocol 2; in that case, "
        "save it with protocol 4",
        name));
  }
  return *value;
}

FileRecords records_of(std::string_view bytes) {
  const Pickle pickle(bytes);
  const PickleValue::Sequence* const labels = member(pickle.root(), "labels").sequence();
  if (labels == nullptr || labels->empty()) {
    throw DataError("'labels' is not a list of numbers");
  }
  const std::string_view images = elements_of(member(pickle.root(), "data"), labels->size());
  auto records = std::make_shared_for_overwrite<char[]>(labels->size() * kCifarRecordBytes);
  char* to = records.get();
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const std::int64_t* const label = (*labels)[i]->integer();
    if (label == nullptr || *label < 0 || *label > 255) {
      throw DataError(fmt::format("label {} of the list is not a number from 0 to 255", i));
    }
    *to++ = static_cast<char>(*label);
    to = std::ranges::copy(images.substr(i * kImageBytes, kImageBytes), to).out;
  }
  return {.bytes = std::move(records),
          .count = labels->size(),
          .offset = static_cast<std::size_t>(images.data() - bytes.data()),
          .step = kImageBytes};
}

FileRecords read_pickle(const InputFile& file, std::size_t size) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(size);
  file.read_first(bytes.get(), size);
  try {
    return records_of({bytes.get(), size});
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: cannot read the batch of CIFAR-10's Python version: {}",
                                file.path(), error.what()));
  }
}

bool is_binary(const std::string& path) { return path.ends_with(".bin"); }

}  // namespace

std::vector<std::string> find_cifar10_files(const std::string& data_dir, bool training) {
  const std::string binary = training ? "data_batch_*.bin" : "test_batch.bin";
  const std::string pickled = training ? "data_batch_[0-9]" : "test_batch";
  if (auto files = list_matching_files(data_dir, binary); !files.empty()) {
    return files;
  }
  if (auto files = list_matching_files(data_dir, pickled); !files.empty()) {
    return files;
  }
  throw UsageError(
      fmt::format("--data_dir={}: the folder contains neither files {} (CIFAR-10's binary version) "
                  "nor {} (its Python version)",
                  data_dir, binary, pickled));
}

std::vector<Record> read_cifar10_records(const std::vector<std::string>& files) {
  std::vector<Record> records;
  std::uint64_t total = 0;
  for (const std::string& path : files) {
    const InputFile file(path);
    const std::uint64_t size = file.size();
    total += size;
    if (total > kMostBytes) {
      throw DataError(
          fmt::format("{}: {} bytes are too many; at most {} are accepted in total, "
                      "because the files are kept in memory; CIFAR-10 files have {} each",
                      path, size, kMostBytes, kRecordsPerFile * kCifarRecordBytes));
    }
    const FileRecords read = is_binary(path) ? read_binary(file, size) : read_pickle(file, size);
    const auto name = std::make_shared<const std::string>(path);
    for (std::size_t i = 0; i < read.count; ++i) {
      records.push_back({.bytes = {read.bytes, read.bytes.get() + i * kCifarRecordBytes},
                         .size = kCifarRecordBytes,
                         .file = name,
                         .offset = read.offset + i * read.step});
    }
  }
  return records;
}

}  // namespace bench

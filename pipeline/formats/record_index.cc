#include "pipeline/formats/record_index.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "models/base/errors.h"
#include "pipeline/formats/input_file.h"
#include "pipeline/formats/tfrecord_reader.h"

namespace bench {
namespace {

constexpr std::uint64_t kSmallestRecord = kTfRecordHeaderBytes + kTfRecordFooterBytes;
/// Two numbers of 64 bits, a space and a line break.
constexpr std::uint64_t kMostBytesOfLine = 42;

std::string how_to_make(const std::string& index_dir, const std::string& shard) {
  const std::string folder = std::filesystem::path(shard).parent_path();
  return fmt::format("make it with make_tfrecords --from_tfrecords={} --index_dir={}",
                     folder.empty() ? "." : folder, index_dir);
}

std::optional<std::uint64_t> number_from(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<TfRecordPlace> place_from(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const auto offset = number_from(line.substr(0, space));
  const auto bytes = number_from(line.substr(space + 1));
  return offset && bytes ? std::optional(TfRecordPlace{.offset = *offset, .bytes = *bytes})
                         : std::nullopt;
}

}  // namespace

std::vector<TfRecordPlace> parse_record_index(std::string_view index, std::uint64_t file_bytes) {
  std::vector<TfRecordPlace> records;
  std::uint64_t end = 0;
  while (!index.empty()) {
    const std::string_view line = index.substr(0, index.find('\n'));
    index.remove_prefix(std::min(line.size() + 1, index.size()));
    const auto place = place_from(line);
    if (!place) {
      throw DataError(
          fmt::format("line {}: an offset and a size in bytes are required, such as "
                      "'0 110342'",
                      records.size() + 1));
    }
    if (place->offset != end) {
      throw DataError(
          fmt::format("line {}: the record begins at {}, but the previous one ends at {}",
                      records.size() + 1, place->offset, end));
    }
    if (place->bytes < kSmallestRecord || place->bytes > file_bytes - end) {
      throw DataError(fmt::format(
          "line {}: the record has {} bytes, but the smallest possible has {}, and {} are left",
          records.size() + 1, place->bytes, kSmallestRecord, file_bytes - end));
    }
    end += place->bytes;
    records.push_back(*place);
  }
  if (end != file_bytes) {
    throw DataError(
        fmt::format("its records end at {}, but the shard has {} bytes", end, file_bytes));
  }
  return records;
}

std::string record_index_path(const std::string& folder, const std::string& shard) {
  const std::filesystem::path name = std::filesystem::path(shard).filename();
  return std::filesystem::path(folder) / (name.string() + ".idx");
}

void require_record_index(const std::string& folder, const std::string& shard) {
  if (std::error_code error; !std::filesystem::exists(record_index_path(folder, shard), error)) {
    throw UsageError(fmt::format("--index_dir={}: {}; {}", folder,
                                 std::filesystem::is_directory(folder, error)
                                     ? fmt::format("the folder has no index of {}", shard)
                                     : "the folder does not exist",
                                 how_to_make(folder, shard)));
  }
}

std::vector<TfRecordPlace> read_record_index(const std::string& folder, const std::string& shard) {
  require_record_index(folder, shard);
  const std::string path = record_index_path(folder, shard);
  const InputFile file(path);
  const std::uint64_t shard_bytes = InputFile(shard).size();
  try {
    const std::uint64_t most = kMostBytesOfLine * (shard_bytes / kSmallestRecord + 1);
    if (file.size() > most) {
      throw DataError(fmt::format("it has {} bytes, but an index of this shard has at most {}",
                                  file.size(), most));
    }
    std::string text(file.size(), '\0');
    file.read_first(text.data(), text.size());
    return parse_record_index(text, shard_bytes);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: this is not the index of {}: {}; {}", path, shard,
                                error.what(), how_to_make(folder, shard)));
  }
}

std::vector<TfRecordPlace> find_records(const std::string& shard) {
  TfRecordReader reader(shard, TfRecordReader::kNoBlocks);
  if (reader.is_compressed()) {
    throw DataError(
        fmt::format("{}: the file is compressed; an index needs uncompressed records", shard));
  }
  std::vector<TfRecordPlace> records;
  while (const auto place = reader.skip()) {
    records.push_back(*place);
  }
  return records;
}

std::string record_index_text(std::span<const TfRecordPlace> records) {
  std::string text;
  for (const TfRecordPlace& record : records) {
    text += fmt::format("{} {}\n", record.offset, record.bytes);
  }
  return text;
}

}  // namespace bench

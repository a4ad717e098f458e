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
    if (place->offset != end || place->bytes < kTfRecordHeaderBytes + kTfRecordFooterBytes ||
        place->bytes > file_bytes - end) {
      throw DataError(
          fmt::format("line {}: a record of {} bytes at offset {} does not fit; the records before "
                      "it end at {}, and the shard at {}",
                      records.size() + 1, place->bytes, place->offset, end, file_bytes));
    }
    end += place->bytes;
    records.push_back(*place);
  }
  if (end != file_bytes) {
    throw DataError(
        fmt::format("the last record ends at {}, but the shard has {} bytes", end, file_bytes));
  }
  return records;
}

std::string record_index_path(const std::string& folder, const std::string& shard) {
  const std::filesystem::path name = std::filesystem::path(shard).filename();
  return std::filesystem::path(folder) / (name.string() + ".idx");
}

std::vector<TfRecordPlace> read_record_index(const std::string& folder, const std::string& shard) {
  const std::string path = record_index_path(folder, shard);
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    throw UsageError(
        fmt::format("--index_dir={}: the folder has no index of {}; make it with make_tfrecords "
                    "--from_tfrecords=FOLDER --index_dir={}",
                    folder, shard, folder));
  }
  const InputFile file(path);
  std::string text(file.size(), '\0');
  file.read_first(text.data(), text.size());
  try {
    return parse_record_index(text, InputFile(shard).size());
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: this is not the index of {}: {}", path, shard, error.what()));
  }
}

std::vector<TfRecordPlace> find_records(const std::string& shard) {
  TfRecordReader reader(shard, TfRecordReader::kNoBlocks);
  if (reader.is_compressed()) {
    throw DataError(fmt::format(
        "{}: the file is compressed, so its records cannot be read by an index", shard));
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

#include "tools/make_tfrecords_src/dataset_writer.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <system_error>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/formats/example_writer.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/formats/jpeg_rewriter.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Subset {
  std::string prefix;
  int shards;
  std::vector<SourceImage>* images;
};

std::string shard_name(const Subset& subset, int shard) {
  char numbers[64];
  std::snprintf(numbers, sizeof(numbers), "-%05d-of-%05d", shard, subset.shards);
  return subset.prefix + numbers;
}

/// Makes the JPEG seekable, and counts it, if `seekable` is not null.
std::string serialize(const SourceImage& image, const std::string& class_name, JpegDecoder& decoder,
                      std::size_t* seekable) {
  std::string jpeg = image.load_jpeg();
  JpegHeader header;
  try {
    header = decoder.open(jpeg);
    if (seekable != nullptr) {
      if (auto rewritten = rewrite_seekable(jpeg)) {
        jpeg = std::move(*rewritten);
        ++*seekable;
      }
    }
  } catch (const DataError& error) {
    throw DataError(fmt::format("{} (class {}): {}", image.file_name, class_name, error.what()));
  }
  return ExampleWriter()
      .bytes("image/encoded", jpeg)
      .bytes("image/format", "JPEG")
      .bytes("image/filename", image.file_name)
      .integer("image/height", header.height)
      .integer("image/width", header.width)
      .integer("image/channels", header.components)
      .integer("image/class/label", image.label)
      .bytes("image/class/text", class_name)
      .serialize();
}

/// True for the temporary file of a shard (tfrecord_writer.cc) whose program no longer runs.
bool is_abandoned(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (!name.starts_with('.') || dot == 0 || !is_shard_name(name.substr(1))) {
    return false;
  }
  const int process = std::atoi(name.c_str() + dot + 1);
  return process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

/// Removes the files of a folder whose names `is_stale` accepts.
template <class IsStale>
void remove_files(const std::string& folder, const IsStale& is_stale) {
  try {
    std::vector<fs::path> stale;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (is_stale(entry.path().filename().string())) {
        stale.push_back(entry.path());
      }
    }
    for (const fs::path& path : stale) {
      fs::remove(path);
    }
  } catch (const fs::filesystem_error& error) {
    throw WriteError(fmt::format("{}: cannot remove an old file: {}", folder, error.what()));
  }
}

void write_labels(const std::string& folder, const std::vector<std::string>& class_names) {
  const fs::path path = fs::path(folder) / "labels.txt";
  const fs::path temporary = fs::path(folder) / ".labels.txt";
  std::ofstream out(temporary);
  for (std::size_t i = 0; i < class_names.size(); ++i) {
    out << i + 1 << '\t' << class_names[i] << '\n';
  }
  out.close();
  std::error_code error;
  if (out) {
    fs::rename(temporary, path, error);
  }
  if (!out || error) {
    throw WriteError(fmt::format("{}: cannot write the file", path.string()));
  }
}

}  // namespace

void prepare_folder(const std::string& output_dir, bool overwrite) {
  std::error_code error;
  fs::create_directories(output_dir, error);
  if (error) {
    throw WriteError(fmt::format("{}: cannot create the folder: {}", output_dir, error.message()));
  }
  remove_files(output_dir, is_abandoned);
  if (!overwrite && !fs::is_empty(output_dir, error)) {
    throw UsageError(fmt::format(
        "--output_dir={}: the folder is not empty; give an empty or new folder, or add --overwrite",
        output_dir));
  }
}

void finish_shards(const std::string& output_dir,
                   const std::vector<std::unique_ptr<TfRecordWriter>>& writers,
                   const std::set<std::string>& names) {
  for (const auto& writer : writers) {
    writer->finish();
  }
  remove_files(output_dir, [&](const std::string& name) {
    return is_shard_name(name) && !names.contains(name);
  });
}

std::string seekable_text(std::size_t seekable, std::size_t all) {
  return fmt::format(
      "{} of {} images are seekable{}\n", seekable, all,
      seekable < all ? "; the others are copied: grey, CMYK, very large or defective" : "");
}

void write_dataset(SourceSet set, const WriteOptions& options, std::ostream& progress) {
  std::vector<Subset> subsets = {{"train", options.shards, &set.training},
                                 {"validation", options.validation_shards, &set.validation}};
  std::erase_if(subsets, [](const Subset& subset) { return subset.images->empty(); });
  std::size_t total = 0;
  for (const Subset& subset : subsets) {
    total += subset.images->size();
    if (subset.images->size() < static_cast<std::size_t>(subset.shards)) {
      const std::string_view option = subset.prefix == "train" ? "shards" : "validation_shards";
      throw UsageError(fmt::format(
          "cannot write {} images to {} {} shards; at most one shard per image is accepted{}",
          subset.images->size(), subset.shards, subset.prefix,
          subset.images->empty()
              ? ""
              : fmt::format("; use --{}={} or fewer", option, subset.images->size())));
    }
  }
  prepare_folder(options.output_dir, options.overwrite);

  JpegDecoder decoder(DctMethod::accurate);
  std::vector<std::unique_ptr<TfRecordWriter>> writers;
  std::set<std::string> names;
  std::size_t done = 0;
  std::size_t seekable = 0;
  for (const Subset& subset : subsets) {
    RandomStream random(hash_name(subset.prefix));
    shuffle(*subset.images, random);
    const std::size_t first = writers.size();
    for (int shard = 0; shard < subset.shards; ++shard) {
      const std::string name = shard_name(subset, shard);
      names.insert(name);
      writers.push_back(std::make_unique<TfRecordWriter>(fs::path(options.output_dir) / name));
    }
    for (std::size_t i = 0; i < subset.images->size(); ++i) {
      stop_if(options.interrupted);
      const SourceImage& image = (*subset.images)[i];
      const std::string& name = set.class_names.at(static_cast<std::size_t>(image.label - 1));
      writers[first + i % static_cast<std::size_t>(subset.shards)]->write(
          serialize(image, name, decoder, options.seekable ? &seekable : nullptr));
      ++done;
      if (done * 10 / total != (done - 1) * 10 / total) {  // each tenth
        progress << fmt::format("{} of {} images\n", done, total);
      }
    }
  }
  finish_shards(options.output_dir, writers, names);
  write_labels(options.output_dir, set.class_names);
  if (options.seekable) {
    progress << seekable_text(seekable, total);
  }
}

}  // namespace bench

#include "bench/input/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "models/base/command_line.h"
#include "models/base/errors.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

constexpr std::array kOptions = {
    Option{.name = "data_dir",
           .value = "FOLDER",
           .meaning = "folder with the dataset's files; required"},
    Option{.name = "data_name",
           .value = "NAME",
           .fallback = "imagenet",
           .accepted = "imagenet cifar10",
           .meaning = "dataset format"},
    Option{.name = "subset",
           .value = "NAME",
           .fallback = "training",
           .accepted = "training validation",
           .meaning = "training: shuffled and distorted; validation: in order, the centre"},
    Option{.name = "image_size",
           .value = "N",
           .meaning = "height and width of the prepared images; default: 224, or 32 for cifar10"},
    Option{.name = "batch_size", .value = "N", .fallback = "64", .meaning = "images per batch"},
    Option{.name = "threads",
           .value = "N,...",
           .repeatable = true,
           .meaning = "numbers of threads to measure; default: 1, 2, 4, ... up to all processors"},
    Option{.name = "num_readers",
           .value = "N",
           .meaning = "threads that read files; default: 1 for shards, 4 with --index_dir or for "
                      "JPEG files"},
    Option{.name = "index_dir",
           .value = "FOLDER",
           .meaning = "folder with an index of each shard, as for bench"},
    Option{.name = "on_bad_record",
           .value = "NAME",
           .fallback = "stop",
           .accepted = "stop skip",
           .meaning = "what to do with a record that cannot be used, as for bench"},
    Option{.name = "max_bad_records",
           .value = "N",
           .fallback = "1%",
           .meaning = "with --on_bad_record=skip: the accepted number, or a share such as 1%"},
    Option{.name = "output",
           .value = "TYPE",
           .fallback = "f32",
           .accepted = "f32 u8",
           .meaning = "f32: normalised, as for a CPU; u8: pixels, as for a GPU"},
    Option{.name = "stage",
           .value = "NAME",
           .fallback = "resize",
           .accepted = "read parse decode resize",
           .meaning = "last stage to run (imagenet)"},
    Option{.name = "resize_method",
           .value = "NAME",
           .fallback = "bilinear",
           .accepted = "bilinear nearest bicubic area round_robin crop",
           .meaning = "how to resize, as for bench"},
    Option{.name = "jpeg_dct",
           .value = "NAME",
           .fallback = "original",
           .accepted = "original accurate",
           .meaning = "inverse DCT, as for bench"},
    Option{.name = "nofuse_decode_and_crop", .meaning = "decode whole images, then crop"},
    Option{.name = "datasets_use_caching", .meaning = "keep the records in memory"},
    Option{.name = "shuffle_buffer",
           .value = "N",
           .fallback = "10000",
           .meaning = "records to shuffle, which are read before the first batch"},
    Option{.name = "seconds", .value = "N", .fallback = "2", .meaning = "length of a measurement"},
    Option{.name = "repeats",
           .value = "N",
           .fallback = "5",
           .meaning = "measurements for each number of threads"},
    Option{.name = "checksum",
           .value = "N",
           .meaning = "print a checksum of the first N batches for each number of threads, instead "
                      "of measuring"},
    Option{.name = "result_file",
           .value = "PATH",
           .meaning = "also write all measurements as JSON; -: write JSON to stdout, no table"},
};

std::vector<int> read_threads(const Arguments& arguments, int processors) {
  std::vector<int> threads;
  if (!arguments.has("threads")) {
    for (int count = 1; count < processors; count *= 2) {
      threads.push_back(count);
    }
    threads.push_back(processors);
    return threads;
  }
  constexpr int kMost = 4096;
  for (const std::string& word : arguments.names("threads")) {
    int count = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (error != std::errc() || end != word.data() + word.size() || count < 1 || count > kMost) {
      throw UsageError(fmt::format(
          "--threads: '{}' is not a number from 1 to {}; separate numbers by commas, such as 1,2,4",
          word, kMost));
    }
    if (std::find(threads.begin(), threads.end(), count) == threads.end()) {
      threads.push_back(count);
    }
  }
  return threads;
}

InputStage stage_named(std::string_view name) {
  return name == "read"     ? InputStage::read
         : name == "parse"  ? InputStage::parse
         : name == "decode" ? InputStage::decode
                            : InputStage::resize;
}

}  // namespace

InputOptions read_input_options(std::span<const std::string> words, int processors) {
  const Arguments arguments("bench_input", kOptions, words);
  if (arguments.help()) {
    return {.help = true};
  }
  arguments.refuse_operands();
  if (!arguments.has("data_dir")) {
    throw UsageError("give --data_dir=FOLDER, the folder with the dataset's files");
  }
  const bool of_cifar10 = arguments.text("data_name") == "cifar10";
  for (const std::string_view option : {"stage", "resize_method", "jpeg_dct",
                                        "nofuse_decode_and_crop", "num_readers", "index_dir"}) {
    if (of_cifar10 && arguments.has(option)) {
      throw UsageError(
          fmt::format("--{}: has no effect on cifar10, which has no JPEGs; omit it", option));
    }
  }
  if (arguments.has("index_dir") && arguments.text("index_dir").empty()) {
    throw UsageError("--index_dir is empty; give the folder with the indexes");
  }
  for (const std::string_view option : {"stage", "seconds", "repeats", "result_file"}) {
    if (arguments.has("checksum") && arguments.has(option)) {
      throw UsageError(
          fmt::format("--checksum measures nothing and needs whole images; omit --{}", option));
    }
  }
  constexpr std::int64_t kMostPixels = 65535;
  constexpr std::int64_t kMostImages = 65536;
  constexpr double kLongest = 3600;
  // Values that may be refused come first. An exception within an aggregate's initialisation made
  // GCC 12 destroy strings twice.
  const std::int64_t size = !arguments.has("image_size")
                                ? (of_cifar10 ? 32 : 224)
                                : arguments.integer("image_size", 1, kMostPixels);
  const std::int64_t batch = arguments.integer("batch_size", 1, kMostImages);
  const std::vector<int> threads = read_threads(arguments, processors);
  const double seconds = arguments.number("seconds", 0.01, kLongest);
  const auto repeats = static_cast<int>(arguments.integer("repeats", 1, 1000));
  const auto readers =
      arguments.has("num_readers") ? static_cast<int>(arguments.integer("num_readers", 1, 256)) : 0;
  const auto checked =
      arguments.has("checksum") ? static_cast<int>(arguments.integer("checksum", 1, 1 << 20)) : 0;
  const BadRecordLimit limit = bad_record_limit_from(arguments.text("max_bad_records"));
  const auto shuffled = static_cast<int>(arguments.integer("shuffle_buffer", 1, 1 << 24));
  InputOptions options;
  options.dataset = &dataset_named(arguments.text("data_name"));
  options.pipeline.data_dir = arguments.text("data_dir");
  options.pipeline.training = arguments.text("subset") == "training";
  options.pipeline.resize_method = resize_method_from(arguments.text("resize_method"));
  options.pipeline.fuse_decode_and_crop = !arguments.has("nofuse_decode_and_crop");
  options.pipeline.accurate_dct = arguments.text("jpeg_dct") == "accurate";
  options.pipeline.last_stage = stage_named(arguments.text("stage"));
  options.pipeline.bad_records = {.skip = arguments.text("on_bad_record") == "skip",
                                  .limit = limit};
  options.pipeline.num_readers = readers;
  options.pipeline.index_dir = arguments.text("index_dir");
  options.pipeline.shuffle_buffer = shuffled;
  options.pipeline.use_caching = arguments.has("datasets_use_caching");
  options.type = arguments.text("output") == "u8" ? SlotType::u8 : SlotType::f32;
  if (options.type == SlotType::u8 && !fits_u8_slots(options.pipeline)) {
    throw UsageError(fmt::format("--output=u8 cannot be combined with --resize_method={}; omit one",
                                 arguments.text("resize_method")));
  }
  options.checked_batches = checked;
  options.image_size = size;
  options.batch = batch;
  options.threads = threads;
  options.seconds = seconds;
  options.repeats = repeats;
  options.result_file = arguments.text("result_file");
  require_folder(options.pipeline.data_dir, "the files of imagenet or cifar10");
  std::error_code error;
  if (const auto result = std::filesystem::weakly_canonical(options.result_file, error);
      !options.result_file.empty() && options.result_file != "-" &&
      result.parent_path() == std::filesystem::canonical(options.pipeline.data_dir)) {
    throw UsageError(fmt::format(
        "--result_file={}: is in the folder that --data_dir reads; give a file elsewhere",
        options.result_file));
  }
  return options;
}

void print_input_usage(std::ostream& out) {
  out << "bench_input: measures how fast this machine prepares a dataset's images, without a "
         "network.\n\nUsage: bench_input --data_dir=FOLDER [OPTION]...\n\n";
  print_options(out, kOptions);
}

}  // namespace bench

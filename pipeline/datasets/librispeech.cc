#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/datasets/example_fields.h"
#include "pipeline/datasets/load_samples.h"
#include "pipeline/formats/tfrecord.h"
#include "pipeline/stages/cpu_clock.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

enum Feature : std::size_t { kLabels, kInputLength, kLabelLength };

/// The inputs of a speech model, in the order of InputSpec::numbers.
enum SpeechNumbers : std::size_t {
  kFeatures,
  kCharacters,
  kCharacterCount,
  kFrames,
  kSpeechInputs
};

std::string_view file_pattern(bool training) {
  return training ? "train-clean-*.tfrecords" : "test-clean.tfrecords";
}

/// The network makes fewer frames of the windows. The largest number that a synthetic example can
/// have is that of an example with all windows.
std::int64_t frames_of(std::int64_t windows, const InputSpec& spec) {
  return windows * (spec.numbers[kFrames].bound - 1) / spec.numbers[kFeatures].shape[1];
}

/// A blank separates equal characters.
std::int64_t frames_needed(std::span<const std::int32_t> text) {
  std::int64_t frames = std::ssize(text);
  for (std::size_t i = 1; i < text.size(); ++i) {
    frames += text[i] == text[i - 1] ? 1 : 0;
  }
  return frames;
}

/// Copies a record's spectrogram and text, with zeros after their ends. As in tf_cnn_benchmarks,
/// an utterance that is too short for its text has a loss of 0 in training: it becomes empty.
class SpeechWorker final : public SampleWorker {
 public:
  SpeechWorker(InputSpec spec, bool training)
      : spec_(std::move(spec)),
        training_(training),
        scanner_({"labels", "input_length", "label_length"}) {}

  SampleCost prepare(const Sample& sample, const SamplePlace& place) override {
    try {
      SampleCost cost;
      CpuLap clock;
      reason_ = BadRecord::checksum;
      check_data_crc(sample.record.data(), sample.record.masked_crc);
      reason_ = BadRecord::fields;
      write(sample.record.data(), place);
      cost.parse = clock.lap();
      return cost;
    } catch (const DataError& error) {
      throw bad_record(sample.record, reason_, error);
    }
  }

 private:
  void write(std::string_view message, const SamplePlace& place) {
    scanner_.scan(message);
    const Shape& spectrogram = spec_.numbers[kFeatures].shape;
    read_float_list(message, "features", static_cast<std::size_t>(spectrogram[2]), windows_);
    const std::int64_t windows = std::ssize(windows_) / spectrogram[2];
    const std::vector<std::int64_t>& labels = scanner_.feature(kLabels).ints;
    check_size("features", windows, "windows", spectrogram[1]);
    check_size("labels", std::ssize(labels), "characters",
               spec_.numbers[kCharacters].shape.elements());
    const std::int64_t used = number(kInputLength, "input_length", windows);
    const std::int64_t characters = number(kLabelLength, "label_length", std::ssize(labels));
    auto* const features = reinterpret_cast<float*>(place.numbers[kFeatures]);
    std::fill(std::ranges::copy(windows_, features).out, features + spectrogram.elements(), 0.0F);
    auto* const text = reinterpret_cast<std::int32_t*>(place.numbers[kCharacters]);
    std::fill_n(text, spec_.numbers[kCharacters].shape.elements(), 0);
    for (std::int64_t i = 0; i < characters; ++i) {
      text[i] = class_of(labels[static_cast<std::size_t>(i)]);
    }
    const bool fits = frames_of(used, spec_) >= frames_needed({text, text + characters});
    const bool counts = fits || !training_;
    *reinterpret_cast<std::int32_t*>(place.numbers[kCharacterCount]) =
        static_cast<std::int32_t>(counts ? characters : 0);
    *reinterpret_cast<std::int32_t*>(place.numbers[kFrames]) =
        static_cast<std::int32_t>(counts ? frames_of(used, spec_) : 0);
  }

  static void check_size(std::string_view feature, std::int64_t count, std::string_view unit,
                         std::int64_t most) {
    if (count < 1 || count > most) {
      throw DataError(
          fmt::format("{} has {} {}; 1 to {} are accepted", feature, count, unit, most));
    }
  }

  /// The only integer of a feature, which must be from 1 to `most`.
  [[nodiscard]] std::int64_t number(Feature feature, std::string_view name,
                                    std::int64_t most) const {
    const std::vector<std::int64_t>& found = scanner_.feature(feature).ints;
    if (found.size() != 1 || found[0] < 1 || found[0] > most) {
      throw DataError(
          fmt::format("{} must be one integer from 1 to {}, the size of the data", name, most));
    }
    return found[0];
  }

  /// The last class is CTC's blank.
  [[nodiscard]] std::int32_t class_of(std::int64_t label) {
    const std::int64_t blank = spec_.num_classes - 1;
    if (label < 0 || label >= blank) {
      reason_ = BadRecord::label;
      throw DataError(fmt::format("label {} is not from 0 to {}", label, blank - 1));
    }
    return static_cast<std::int32_t>(label);
  }

  /// Why the record is bad if the current step throws.
  BadRecord reason_ = BadRecord::fields;
  InputSpec spec_;
  bool training_;
  ExampleScanner scanner_;
  std::vector<float> windows_;
};

/// Records are large: 2 MB for 35 seconds.
DatasetOptions with_small_buffer(DatasetOptions options) {
  constexpr int kRecords = 1000;
  options.shuffle_buffer = std::min(options.shuffle_buffer, kRecords);
  return options;
}

}  // namespace

std::vector<std::string> list_librispeech_files(const DatasetOptions& options) {
  return list_matching_files(options.data_dir, std::string(file_pattern(options.training)));
}

void check_librispeech_files(const DatasetOptions& options) {
  if (list_librispeech_files(options).empty()) {
    throw UsageError(fmt::format("--data_dir={}: the folder has no files {}", options.data_dir,
                                 file_pattern(options.training)));
  }
}

std::size_t librispeech_record_memory(const DatasetOptions& options, bool several_processes) {
  return shard_record_memory(list_librispeech_files(options), with_small_buffer(options),
                             several_processes);
}

std::unique_ptr<InputSource> make_librispeech_input(const InputSpec& spec,
                                                    const DatasetOptions& options,
                                                    std::shared_ptr<HostAllocator> allocator) {
  check_librispeech_files(options);
  check(spec.numbers.size() == kSpeechInputs && spec.numbers[kFeatures].dtype == DType::f32 &&
            spec.numbers[kFeatures].shape.rank() == 3,
        "librispeech has spectrograms, labels, and the sizes of both");
  return load_samples(
      spec, with_small_buffer(options), unindexed_shards(list_librispeech_files(options)),
      [&] { return std::make_unique<SpeechWorker>(spec, options.training); }, std::move(allocator));
}

}  // namespace bench

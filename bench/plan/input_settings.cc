#include "bench/plan/input_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

#include "bench/flags/table.h"
#include "models/base/errors.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

/// torchvision's weights of this network need a bicubic resize, those of the others a bilinear one.
constexpr std::string_view kBicubicModel = "efficientnet_b0";

Preprocessor preprocessor_of(const Flags& flags) {
  if (flags.input_preprocessor != "torchvision") {
    return flags.input_preprocessor == "default" ? Preprocessor::original : Preprocessor::official;
  }
  return flags.model == kBicubicModel ? Preprocessor::torchvision_bicubic
                                      : Preprocessor::torchvision;
}

constexpr float kHighestPixel = 255;
constexpr float kSmallestDeviation = 1e-3F;

/// The flag's values for red, green and blue. Throws UsageError unless they are numbers from
/// `least` to 255.
std::array<float, 3> channel_values(std::string_view flag, const std::string& text, float least) {
  std::array<float, 3> values{};
  const std::vector<std::string> words = split_text(text, ',');
  bool valid = words.size() == values.size();
  for (std::size_t c = 0; valid && c < values.size(); ++c) {
    const std::string& word = words[c];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), values.at(c));
    valid = error == std::errc() && end == word.data() + word.size() && values.at(c) >= least &&
            values.at(c) <= kHighestPixel;
  }
  if (!valid) {
    throw UsageError(
        fmt::format("--{}={}: give three numbers from {:g} to {:g}, for red, green and blue, "
                    "separated by commas",
                    flag, text, least, kHighestPixel));
  }
  return values;
}

/// Throws UsageError if the flag's values seem to be for pixels from 0 to 1.
void refuse_small_scale(std::string_view flag, const std::array<float, 3>& values) {
  const float largest = *std::ranges::max_element(values);
  if (0 < largest && largest < 1) {
    throw UsageError(fmt::format(
        "--{}: pixels range from 0 to 255, but all values are below 1; multiply them by 255",
        flag));
  }
}

/// Throws UsageError.
PixelScaling scaling_of(const Flags& flags) {
  PixelScaling scaling = flags.ml_perf ? kImagenetMeans : kSymmetric;
  if (!flags.pixel_mean && !flags.pixel_std) {
    return scaling;
  }
  if (flags.ml_perf || flags.input_preprocessor != "default") {
    throw UsageError(fmt::format(
        "--{} cannot be combined with {}, which scales pixels in its own way; omit one of them",
        flags.pixel_mean ? "pixel_mean" : "pixel_std",
        flags.ml_perf ? "--ml_perf"
                      : fmt::format("--input_preprocessor={}", flags.input_preprocessor)));
  }
  if (flags.pixel_mean) {
    const auto means = channel_values("pixel_mean", *flags.pixel_mean, 0);
    refuse_small_scale("pixel_mean", means);
    for (std::size_t c = 0; c < scaling.size(); ++c) {
      scaling.at(c).mean = means.at(c);
    }
  }
  if (flags.pixel_std) {
    const auto deviations = channel_values("pixel_std", *flags.pixel_std, kSmallestDeviation);
    refuse_small_scale("pixel_std", deviations);
    for (std::size_t c = 0; c < scaling.size(); ++c) {
      scaling.at(c).deviation = deviations.at(c);
    }
  }
  return scaling;
}

/// The flag that needs f32 slots for ImageNet's images, with its value; empty if none does.
std::string flag_for_f32(const Flags& flags) {
  if (flags.input_preprocessor != "default") {
    return fmt::format("--input_preprocessor={}", flags.input_preprocessor);
  }
  return flags.ml_perf       ? "--ml_perf"
         : flags.pixel_mean  ? fmt::format("--pixel_mean={}", *flags.pixel_mean)
         : flags.pixel_std   ? fmt::format("--pixel_std={}", *flags.pixel_std)
         : flags.distortions ? "--distortions"
                             : fmt::format("--resize_method={}", flags.resize_method);
}

}  // namespace

void check_torchvision(const Flags& flags, const Model& model) {
  constexpr std::int64_t kClasses = 1000;
  if (flags.input_preprocessor != "torchvision" || model.num_classes == kClasses) {
    return;
  }
  const std::string twin = fmt::format("torchvision_{}", model.name);
  throw UsageError(fmt::format(
      "--input_preprocessor=torchvision is for torchvision's networks, not --model={}; use {}",
      model.name,
      find_model(twin) != nullptr ? fmt::format("--model={}", twin)
                                  : "one of those in bench/manual/NETWORKS.md"));
}

InputSettings input_of(const Flags& flags) {
  InputSettings input{.file = flags.input_file};
  if (!flags.data_dir) {
    return input;
  }
  input.dataset = {
      .data_dir = *flags.data_dir,
      .preprocessor = preprocessor_of(flags),
      .resize_method = resize_method_from(flags.resize_method),
      .scaling = scaling_of(flags),
      .use_boxes = !flags.ml_perf,
      .fuse_decode_and_crop = flags.fuse_decode_and_crop,
      // torchvision decodes with the accurate DCT.
      .accurate_dct = flags.jpeg_dct == "accurate" || flags.input_preprocessor == "torchvision",
      .num_threads = static_cast<int>(flags.datasets_num_private_threads.value_or(0)),
      // The others are the batch that is in use and the one that is being filled.
      .prefetch_batches = static_cast<int>(flags.multi_device_iterator_max_buffer_size) + 2,
      .index_dir = flags.index_dir.value_or(""),
      .interleave_cycle = static_cast<int>(flags.datasets_parallel_interleave_cycle_length.value_or(
          DatasetOptions{}.interleave_cycle)),
      .sloppy_interleave = flags.datasets_sloppy_parallel_interleave,
      .num_readers = static_cast<int>(flags.num_readers.value_or(0)),
      .use_caching = flags.datasets_use_caching,
      .repeat_cached_sample = flags.datasets_repeat_cached_sample,
      .distortions = flags.distortions,
      .distort_in_yiq = flags.distort_color_in_yiq,
      .bad_records = {.skip = flags.on_bad_record == "skip",
                      .limit = bad_record_limit_from(flags.max_bad_records)},
      .max_image_pixels = flags.max_image_pixels};
  return input;
}

bool can_send_pixels(const Workload& workload) {
  const auto& dataset = workload.input.dataset;
  const bool imagenet = workload.dataset->name == kDefaultDataset;
  return dataset && !workload.dataset->needs_f32_slots && (!imagenet || fits_u8_slots(*dataset));
}

SlotType slot_type_of(const Flags& flags, RunDevice device, const Workload& workload) {
  const auto& dataset = workload.input.dataset;
  const bool fits = !dataset || can_send_pixels(workload);
  if (!fits && flags.input_transfer == "uint8") {
    throw UsageError(
        fmt::format("--input_transfer=uint8 cannot be combined with {}, which normalises on the "
                    "host; omit one of them",
                    flag_for_f32(flags)));
  }
  const bool pixels = flags.input_transfer == "auto" ? device == RunDevice::gpu && fits
                                                     : flags.input_transfer == "uint8";
  return dataset && pixels ? SlotType::u8 : SlotType::f32;
}

}  // namespace bench

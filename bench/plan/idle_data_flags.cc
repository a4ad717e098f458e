#include "bench/plan/idle_data_flags.h"

#include "bench/plan/input_settings.h"
#include "models/base/errors.h"

namespace bench {

std::string unless_data(const Asked& asked) {
  return asked.flags.data_dir ? "" : "without --data_dir";
}

std::string if_nothing_is_copied_ahead(const Asked& asked) {
  if (const std::string idle = unless_data(asked); !idle.empty()) {
    return idle;
  }
  if (asked.settings.execution.device != RunDevice::gpu) {
    return fmt::format("with --device={}, which needs no copies of batches",
                       name_of(asked.settings.execution.device));
  }
  return "with --device=gpu, which always copies the next batch while a step runs, and the first "
         "batch before the first step";
}

namespace {

std::string with_dataset(const Asked& asked, std::string_view what) {
  return fmt::format("with --data_name={}, {}", asked.settings.workload.dataset->name, what);
}

std::string unless_images(const Asked& asked) {
  const std::string idle = unless_data(asked);
  return !idle.empty() || asked.settings.workload.dataset->channels > 0
             ? idle
             : with_dataset(asked, "which has no images");
}

}  // namespace

std::string unless_records(const Asked& asked) {
  const std::string idle = unless_data(asked);
  return !idle.empty() || asked.settings.workload.dataset->format != "text"
             ? idle
             : with_dataset(asked, "whose text is kept in memory");
}

std::string unless_shards(const Asked& asked) {
  const std::string idle = unless_records(asked);
  return !idle.empty() || asked.settings.workload.dataset->format.starts_with("tfrecord")
             ? idle
             : with_dataset(asked, "whose images have one size and no shards");
}

std::string unless_jpegs(const Asked& asked) {
  const std::string idle = unless_images(asked);
  return idle.empty() ? unless_shards(asked) : idle;
}

std::string unless_imagenet(const Asked& asked) {
  const std::string idle = unless_jpegs(asked);
  return !idle.empty() || asked.settings.workload.dataset->name == kDefaultDataset
             ? idle
             : with_dataset(asked, "whose images are prepared without options");
}

std::string unless_interleaved(const Asked& asked) {
  const std::string idle = unless_shards(asked);
  const bool indexed = asked.flags.index_dir && unless_jpegs(asked).empty();
  return !idle.empty() || !indexed ? idle : "with --index_dir";
}

std::string unless_several_read(const Asked& asked) {
  const Flags& flags = asked.flags;
  if (const std::string idle = unless_interleaved(asked); !idle.empty()) {
    return idle;
  }
  return flags.num_readers.value_or(1) < 2       ? "without --num_readers above 1"
         : asked.settings.workload.processes > 1 ? "with several processes"
         : flags.datasets_repeat_cached_sample   ? "with --datasets_repeat_cached_sample"
                                                 : "";
}

std::string unless_bad_records_are_skipped(const Asked& asked) {
  const std::string idle = unless_records(asked);
  return !idle.empty() || asked.flags.on_bad_record == "skip" ? idle
                                                              : "without --on_bad_record=skip";
}

std::string unless_dct_is_chosen(const Asked& asked) {
  const std::string idle = unless_jpegs(asked);
  return !idle.empty() || asked.flags.input_preprocessor != "torchvision"
             ? idle
             : "with --input_preprocessor=torchvision";
}

std::string unless_original_pixels(const Asked& asked) {
  const std::string idle = unless_imagenet(asked);
  return !idle.empty() || asked.flags.input_preprocessor == "default"
             ? idle
             : fmt::format("with --input_preprocessor={}", asked.flags.input_preprocessor);
}

std::string unless_distorted(const Asked& asked) {
  const Workload& workload = asked.settings.workload;
  if (const std::string idle = unless_images(asked); !idle.empty()) {
    return idle;
  }
  if (!workload.input.dataset->training) {
    return "in an evaluation";
  }
  return unless_jpegs(asked).empty() ? unless_original_pixels(asked) : "";
}

std::string unless_colors_change(const Asked& asked) {
  const std::string idle = unless_original_pixels(asked);
  if (!idle.empty()) {
    return idle;
  }
  return asked.flags.distortions ? unless_distorted(asked) : "without --distortions";
}

}  // namespace bench

#include "bench/plan/input.h"

#include "models/base/errors.h"

namespace bench {

std::int32_t first_label(const RunSettings& settings) {
  const Dataset& dataset = *settings.dataset;
  return dataset.background_label && settings.num_classes == dataset.num_classes - 1 ? 1 : 0;
}

std::unique_ptr<InputSource> make_run_input(const RunSettings& settings, const Layout& images,
                                            const Watch& watch) {
  const bool nhwc = images.token() == "nhwc";
  check(nhwc || images.token() == "nchw", cat("the plan wants images in layout ", images));
  const Flags& flags = settings.flags;
  const InputSpec spec{.batch = settings.batch,
                       .channels = settings.dataset->channels,
                       .height = settings.image_size,
                       .width = settings.image_size,
                       .layout = nhwc ? SlotLayout::nhwc : SlotLayout::nchw,
                       .num_classes = static_cast<std::int32_t>(settings.num_classes),
                       .first_label = first_label(settings),
                       .seed = static_cast<std::uint64_t>(flags.tf_random_seed)};
  if (flags.input_file) {
    return make_tensor_file_input(spec, *flags.input_file);
  }
  if (settings.synthetic()) {
    return make_synthetic_input(spec, nullptr, watch);
  }
  DatasetOptions options{
      .data_dir = *flags.data_dir,
      .resize_method = resize_method_from(flags.resize_method),
      .fuse_decode_and_crop = flags.fuse_decode_and_crop,
      .num_threads = static_cast<int>(flags.datasets_num_private_threads.value_or(0)),
      .use_caching = flags.datasets_use_caching,
      .repeat_cached_sample = flags.datasets_repeat_cached_sample,
      .distortions = flags.distortions};
  if (flags.datasets_parallel_interleave_cycle_length) {
    options.interleave_cycle = static_cast<int>(*flags.datasets_parallel_interleave_cycle_length);
  }
  return make_dataset_input(*settings.dataset, spec, options);
}

}  // namespace bench

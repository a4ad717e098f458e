#include "bench/plan/input.h"

#include "models/base/errors.h"

namespace bench {

std::int32_t first_label(const RunSettings& settings) {
  const Dataset& dataset = *settings.dataset;
  return dataset.background_label && settings.num_classes == dataset.num_classes - 1 ? 1 : 0;
}

std::unique_ptr<InputSource> make_run_input(const RunSettings& settings, const Layout& images,
                                            const Watch& watch,
                                            const std::shared_ptr<HostAllocator>& allocator) {
  const bool planned_nhwc = images.token() == "nhwc";
  check(planned_nhwc || images.token() == "nchw",
        fmt::format("the plan needs images in layout {}, not nhwc or nchw", images.token()));
  const bool nhwc = planned_nhwc || settings.input.type == SlotType::u8;
  const InputSpec spec{.batch = settings.global_batch(),
                       .channels = settings.dataset->channels,
                       .height = settings.image_size,
                       .width = settings.image_size,
                       .layout = nhwc ? SlotLayout::nhwc : SlotLayout::nchw,
                       .type = settings.input.type,
                       .num_classes = static_cast<std::int32_t>(settings.num_classes),
                       .first_label = first_label(settings),
                       .seed = settings.seed};
  if (settings.input.file) {
    return make_tensor_file_input(spec, *settings.input.file, allocator);
  }
  if (settings.synthetic()) {
    return make_synthetic_input(spec, allocator, watch);
  }
  return make_dataset_input(*settings.dataset, spec, *settings.input.dataset, allocator);
}

}  // namespace bench

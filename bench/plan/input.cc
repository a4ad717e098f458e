#include "bench/plan/input.h"

#include "models/base/errors.h"

namespace bench {

std::int32_t first_label(const Workload& workload) {
  const Dataset& dataset = *workload.dataset;
  return dataset.background_label && workload.num_classes == dataset.num_classes - 1 ? 1 : 0;
}

std::unique_ptr<InputSource> make_run_input(const RunSettings& settings, const Layout& images,
                                            const Watch& watch,
                                            const std::shared_ptr<HostAllocator>& allocator) {
  const Workload& workload = settings.workload;
  const bool planned_nhwc = images.token() == "nhwc";
  check(planned_nhwc || images.token() == "nchw",
        fmt::format("the plan needs images in layout {}, not nhwc or nchw", images.token()));
  const bool nhwc = planned_nhwc || settings.execution.slots == SlotType::u8;
  const InputSpec spec{.batch = workload.process_batch(),
                       .global_batch = workload.global_batch(),
                       .first_image = workload.towers_before() * workload.batch,
                       .channels = workload.dataset->channels,
                       .height = workload.image_size,
                       .width = workload.image_size,
                       .layout = nhwc ? SlotLayout::nhwc : SlotLayout::nchw,
                       .type = settings.execution.slots,
                       .num_classes = static_cast<std::int32_t>(workload.num_classes),
                       .first_label = first_label(workload),
                       .seed = workload.seed,
                       .start = workload.input.start};
  if (workload.input.file) {
    return make_tensor_file_input(spec, *workload.input.file, allocator);
  }
  if (workload.synthetic()) {
    return make_synthetic_input(spec, allocator, watch);
  }
  return make_dataset_input(*workload.dataset, spec, *workload.input.dataset, allocator);
}

}  // namespace bench

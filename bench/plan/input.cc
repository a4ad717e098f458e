#include "bench/plan/input.h"

#include "kernels/candidates.h"
#include "models/base/errors.h"
#include "models/base/labelled_object.h"

namespace bench {

std::int32_t first_label(const Workload& workload) {
  const Dataset& dataset = *workload.dataset;
  return dataset.background_label && workload.num_classes == dataset.num_classes - 1 ? 1 : 0;
}

std::vector<ExampleInput> number_inputs(const Workload& workload) {
  const NumberModel* const model = workload.model->numbers;
  if (model == nullptr) {
    return {};
  }
  return workload.evaluation() && model->metric == ModelMetric::average_precision
             ? labelled_object_inputs()
             : model->inputs(workload.num_classes);
}

Layout image_layout(const Workload& workload, const Executor& executor) {
  return workload.model->reads_images() ? executor.input_layout("images") : nchw();
}

void feed_examples(Tower& tower, const InputBatch& batch, std::size_t first) {
  for (const BatchNumbers& numbers : batch.numbers) {
    tower.feed_numbers(numbers.input, numbers.bytes(first, 1).data(), numbers.content);
  }
  if (!batch.has_images()) {
    return;
  }
  const std::size_t pixels = first * tower.elements_of_image();
  const std::int32_t* const labels = batch.labels == nullptr ? nullptr : batch.labels + first;
  if (batch.pixels != nullptr) {
    tower.feed_pixels(batch.pixels + pixels, labels, batch.content);
  } else {
    tower.feed(batch.images + pixels, labels, batch.content);
  }
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
                       .numbers = number_inputs(workload),
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

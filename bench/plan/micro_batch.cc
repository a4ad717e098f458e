#include "bench/plan/micro_batch.h"

#include <algorithm>
#include <cstdlib>

#include "bench/plan/network.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench {
namespace {

/// The network's work for one image.
struct ImageWork {
  double multiply_adds = 0;
  /// Bytes of activations that nodes read and write, except the images.
  double activations = 0;
  double variables = 0;
  /// The largest activations of one node.
  double widest = 0;
};

ImageWork work_of_image(const Graph& graph) {
  ImageWork sum;
  for (const Node& node : graph.nodes()) {
    double activations = 0;
    for (const auto* values : {&node.inputs, &node.outputs}) {
      for (const ValueId value : *values) {
        const TensorType& type = graph.type(value);
        const auto bytes =
            static_cast<double>(type.shape.elements()) * static_cast<double>(size_of(type.dtype));
        const Value::Origin origin = graph.value(value).origin;
        sum.variables += origin == Value::Origin::variable ? bytes : 0;
        activations += origin == Value::Origin::node ? bytes : 0;
      }
    }
    sum.multiply_adds += static_cast<double>(work_of(graph, node).multiply_adds);
    sum.activations += activations;
    sum.widest = std::max(sum.widest, activations);
  }
  return sum;
}

/// The time for one image, in multiply-adds of one thread.
double time_of_image(const ImageWork& work, std::int64_t at_once, bool in_caches) {
  // The ratio in the backend's estimates, which compare kernels.
  constexpr double kMultiplyAddsPerByte = 5;
  // Fits MobileNet v2 and DenseNet-121, which took 0.80 and 0.88 of the time of whole batches of 32
  // on Zen 4.
  constexpr double kCacheFactor = 2.5;
  const double memory = work.variables / static_cast<double>(at_once) +
                        work.activations / (in_caches ? kCacheFactor : 1);
  return work.multiply_adds + kMultiplyAddsPerByte * memory;
}

/// True if the images of a batch may be computed apart.
bool may_divide(const RunSettings& settings) {
  return settings.execution.device == RunDevice::cpu &&
         settings.workload.mode == RunMode::forward_only && !settings.outputs.files.dump_tensors;
}

/// The backend's cache size, at most 16 MiB per thread. A virtual machine may report a whole
/// third-level cache that other machines share. On two cores that report 264 MiB (Emerald Rapids),
/// MobileNet v2 reached 298 images/sec with the 4 of 32 images that fit in 32 MiB, and 255 with
/// all.
std::size_t usable_cache_bytes(Backend& backend) {
  constexpr std::size_t kMostPerThread = std::size_t{16} << 20;
  return std::min(backend.memory_traits().cache_bytes,
                  kMostPerThread * static_cast<std::size_t>(backend.host_threads().count));
}

/// The choices file's; 0 if it has none.
std::int64_t filed_micro_batch(const Execution& execution) {
  if (execution.choices == nullptr) {
    return 0;
  }
  const auto found = execution.choices->made_for.find("micro_batch");
  return found == execution.choices->made_for.end()
             ? 0
             : std::strtoll(found->second.c_str(), nullptr, /*base=*/10);
}

}  // namespace

std::int64_t fastest_micro_batch(const Graph& graph, std::int64_t batch, std::size_t cache_bytes) {
  // Networks whose estimate was 0.92 to 0.95 gained at most 3 %.
  constexpr double kWorthwhile = 0.92;
  const ImageWork work = work_of_image(graph);
  const auto fits = [&](std::int64_t images) {
    return static_cast<double>(images) * work.widest <= static_cast<double>(cache_bytes);
  };
  std::int64_t images = batch;
  while (images > 1 && (batch % images != 0 || !fits(images))) {
    --images;
  }
  const bool faster = fits(images) && time_of_image(work, images, /*in_caches=*/true) <
                                          kWorthwhile * time_of_image(work, batch, false);
  return faster ? images : batch;
}

std::int64_t micro_batch_for(const RunSettings& settings, Backend& backend, std::int64_t batch) {
  if (!may_divide(settings)) {
    return batch;
  }
  const std::int64_t asked =
      settings.execution.micro_batch.value_or(filed_micro_batch(settings.execution));
  if (asked > 0) {
    return batch % asked == 0 ? asked : batch;
  }
  return fastest_micro_batch(build_run_graph(settings, backend, 1), batch,
                             usable_cache_bytes(backend));
}

void choose_micro_batch(RunSettings& settings, Backend& backend) {
  const std::int64_t batch = settings.workload.batch;
  std::optional<std::int64_t>& micro_batch = settings.execution.micro_batch;
  if (micro_batch && settings.execution.device != RunDevice::cpu) {
    throw UsageError(fmt::format("--micro_batch={} is for CPUs: omit it with --device={}",
                                 *micro_batch, settings.execution.device_label));
  }
  if (micro_batch && batch % *micro_batch != 0) {
    throw UsageError(
        fmt::format("--micro_batch={} does not divide the batch of {}", *micro_batch, batch));
  }
  const std::int64_t chosen = micro_batch_for(settings, backend, batch);
  if (!micro_batch && chosen != batch) {
    micro_batch = chosen;
    settings.notices.push_back(
        fmt::format("the network computes {} of {} {}s at a time, {}", chosen, batch,
                    settings.workload.model->example(),
                    settings.execution.choices == nullptr
                        ? "so that activations stay in the caches (--micro_batch)"
                        : "as in --choices_file"));
  }
}

}  // namespace bench

#include "bench/quantization.h"

#include <glog/logging.h>

#include <iomanip>
#include <ostream>
#include <sstream>

#include "bench/input.h"
#include "bench/memory_check.h"
#include "models/base/errors.h"
#include "variable_mgmt/quantize_values.h"

namespace bench {
namespace {

/// Images that f32 runs on at once: all values of the network are kept meanwhile.
constexpr std::int64_t kMostAtOnce = 8;

std::int64_t images_at_once(std::int64_t batch) {
  std::int64_t count = std::min(batch, kMostAtOnce);
  while (batch % count != 0) {
    --count;
  }
  return count;
}

}  // namespace

QuantizedGraph build_quantized_graph(const RunSettings& settings, const Backend& backend,
                                     std::int64_t batch, const Ranges& ranges) {
  QuantizedGraph result =
      quantize(build_float_graph(settings, backend, batch), ranges,
               [&](const Graph& graph, const Node& node) { return backend.supports(graph, node); });
  if (result.weights.empty()) {
    throw UsageError(cat("--dtype=int8: --device=", settings.device_label, " runs no layer of ",
                         settings.model->name, " in int8",
                         result.refusals.empty() ? "" : cat(": ", result.refusals.front())));
  }
  return result;
}

Quantization::Quantization(const RunSettings& settings, Backend& backend, InitialValues& values,
                           std::ostream& progress, const Watch& watch)
    : classes_(settings.num_classes) {
  const auto batches = settings.flags.calibration_batches;
  progress << "calibrating int8 with " << batches << (batches == 1 ? " batch" : " batches")
           << " of " << settings.batch << " in f32" << std::endl;
  const std::int64_t at_once = images_at_once(settings.batch);
  Calibration calibration(build_float_graph(settings, backend, at_once), backend, settings.format,
                          values);
  const auto input = make_run_input(settings, Layout("nchw"));
  const auto labels_at_once = static_cast<std::size_t>(at_once);
  const std::size_t pixels_at_once = image_elements(settings) * labels_at_once;
  const auto parts = static_cast<std::size_t>(settings.batch / at_once);
  for (std::int64_t b = 0; b < batches; ++b) {
    const InputBatch batch = input->next();
    if (b == 0) {
      images_.assign(batch.images, batch.images + parts * pixels_at_once);
      labels_.assign(batch.labels, batch.labels + settings.batch);
    }
    for (std::size_t part = 0; part < parts; ++part) {
      tell(watch, b, batches);
      const auto logits =
          calibration.observe({batch.images + part * pixels_at_once, pixels_at_once},
                              {batch.labels + part * labels_at_once, labels_at_once});
      if (b == 0) {
        logits_.insert(logits_.end(), logits.begin(), logits.end());
      }
    }
  }
  tell(watch, batches, batches);
  QuantizedGraph quantized =
      build_quantized_graph(settings, backend, settings.batch, calibration.ranges());
  quantize_values(quantized.weights, values);
  for (const std::string& refusal : quantized.refusals) {
    LOG(INFO) << "note: a layer stays in f32: " << refusal;
  }
  graph_ = std::move(quantized.graph);
}

Agreement Quantization::compare(Tower& tower) const {
  constexpr std::int32_t kNoStep = -1;
  tower.run_canonical(images_, labels_, kNoStep);
  return compare_logits(tower.executor().read_output_as_floats("logits"), logits_, classes_);
}

std::ostream& operator<<(std::ostream& out, const Agreement& agreement) {
  std::ostringstream decibels;
  decibels << std::fixed << std::setprecision(1) << agreement.snr_db;
  return out << "int8 against f32 on the same batch: signal to noise of the logits "
             << decibels.str() << " dB, top-1 agreement " << agreement.same_top_1 << " of "
             << agreement.examples;
}

}  // namespace bench

#include "bench/quantize/quantization.h"

#include <glog/logging.h>

#include <cmath>
#include <memory>
#include <ostream>
#include <span>
#include <utility>

#include "bench/plan/input.h"
#include "bench/plan/memory_check.h"
#include "bench/plan/network.h"
#include "bench/quantize/quantize_values.h"
#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"
#include "pipeline/input.h"

namespace bench {
namespace {

/// The number of images in one f32 batch; all values of the network stay in memory meanwhile.
constexpr std::int64_t kMostAtOnce = 8;
/// The least number of images to judge, rounded up to whole batches. A single image cannot show
/// what depends on the image.
constexpr std::int64_t kLeastJudged = 8;

std::int64_t calibrated_at_once(std::int64_t batch) {
  std::int64_t count = std::min(batch, kMostAtOnce);
  while (batch % count != 0) {
    --count;
  }
  return count;
}

/// The run's input, including the batches that follow those of calibration.
class CalibrationInput {
 public:
  explicit CalibrationInput(RunSettings settings) : settings_(std::move(settings)) {
    settings_.execution.slots = SlotType::f32;  // Calibration reads it itself.
    source_ = make_run_input(settings_, kLayout);
  }

  InputBatch next() { return source_->next(); }

  /// The next batch, which calibration has not seen unless its epoch is above 0.
  InputBatch next_unseen() {
    if (settings_.workload.synthetic()) {
      ++settings_.workload.seed;
      source_ = make_run_input(settings_, kLayout);
    }
    return source_->next();
  }

 private:
  static inline const Layout kLayout{"nchw"};

  RunSettings settings_;
  std::unique_ptr<InputSource> source_;
};

/// The ratio in decibels, or why it is unknown; `no_signal` applies if the signal is 0.
Captured<double> decibels_of(const SignalToNoise& ratio, const char* no_signal) {
  if (const auto decibels = ratio.decibels()) {
    return *decibels;
  }
  if (!std::isfinite(ratio.signal) || !std::isfinite(ratio.noise)) {
    return Unknown{"the logits are not finite"};
  }
  return Unknown{ratio.signal > 0 ? "int8 and f32 have identical logits" : no_signal};
}

Captured<double> centred_decibels(const Agreement& agreement) {
  return decibels_of(agreement.centred, "f32's logits are the same for all images");
}

Captured<double> plain_decibels(const Agreement& agreement) {
  return decibels_of(agreement.plain, "f32's logits are all 0");
}

std::string text_of(const Captured<double>& decibels) {
  return decibels.known() ? fmt::format("{:.1f} dB", decibels.value())
                          : fmt::format("undefined ({})", decibels.why());
}

}  // namespace

Quantization::Quantization(const RunSettings& settings, Backend& backend, InitialValues& values,
                           std::ostream& progress, const Watch& watch)
    : classes_(settings.workload.num_classes),
      trained_(settings.workload.init_from.has_value()),
      labelled_(!settings.workload.synthetic()) {
  const auto batches = settings.workload.calibration_batches;
  progress << stderr_line::calibrating
           << (batches == 1
                   ? fmt::format("1 batch of {} in f32", settings.workload.batch)
                   : fmt::format("{} batches of {} in f32", batches, settings.workload.batch))
           << std::endl;
  const std::int64_t at_once = calibrated_at_once(settings.workload.batch);
  Calibration calibration(build_float_graph(settings.workload, backend, at_once), backend,
                          settings.execution.format, values);
  CalibrationInput input(settings);
  const auto labels_at_once = static_cast<std::size_t>(at_once);
  const std::size_t pixels_at_once = image_elements(settings.workload) * labels_at_once;
  const auto parts = static_cast<std::size_t>(settings.workload.batch / at_once);
  // Count the calibration batches and the judged batches.
  const std::int64_t judged =
      (kLeastJudged + settings.workload.batch - 1) / settings.workload.batch;
  const std::int64_t all = batches + judged;
  std::int64_t done = 0;
  // Calls use(images, labels) for parts of the batch, as many images at a time as f32 takes.
  const auto for_parts = [&](const InputBatch& batch, const auto& use) {
    check(batch.has_images() && batch.labels != nullptr,
          "only networks that classify images are calibrated");
    for (std::size_t part = 0; part < parts; ++part) {
      tell(watch, done, all);
      use(std::span(batch.images + part * pixels_at_once, pixels_at_once),
          std::span(batch.labels + part * labels_at_once, labels_at_once));
    }
  };
  for (; done < batches; ++done) {
    for_parts(input.next(), [&](auto images, auto labels) { calibration.observe(images, labels); });
  }
  for (; done < all; ++done) {
    const InputBatch batch = input.next_unseen();
    seen_ = seen_ || batch.epoch > 0;
    Kept kept{.images = {batch.images, batch.images + parts * pixels_at_once},
              .labels = {batch.labels, batch.labels + settings.workload.batch},
              .logits = {}};
    for_parts(batch, [&](auto images, auto labels) {
      const auto logits = calibration.logits(images, labels);
      kept.logits.insert(kept.logits.end(), logits.begin(), logits.end());
    });
    kept_.push_back(std::move(kept));
  }
  tell(watch, all, all);
  QuantizedGraph quantized =
      build_quantized_graph(settings, backend, images_at_once(settings), calibration.ranges());
  quantize_values(quantized.weights, values);
  for (const std::string& refusal : quantized.refusals) {
    LOG(INFO) << "note: a layer stays in f32: " << refusal;
  }
  graph_ = std::move(quantized.graph);
}

Judgement Quantization::judge(Tower& tower) const {
  constexpr std::int32_t kWithoutDropout = -1;
  std::vector<float> logits;
  std::vector<float> right;
  std::vector<std::int32_t> labels;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto at_once = static_cast<std::size_t>(tower.find_input("images")->shape[0]);
  for (const Kept& kept : kept_) {
    const std::size_t runs = kept.labels.size() / at_once;
    const std::size_t elements = kept.images.size() / runs;
    for (std::size_t run = 0; run < runs; ++run) {
      tower.run_canonical(std::span(kept.images).subspan(run * elements, elements),
                          std::span(kept.labels).subspan(run * at_once, at_once), kWithoutDropout);
      append(logits, tower.executor().read_output_as_floats("logits"));
    }
    append(right, kept.logits);
    append(labels, kept.labels);
  }
  Judgement judgement{
      .agreement = compare_logits(logits, right, classes_), .seen = seen_, .trained = trained_};
  if (labelled_) {
    judgement.correct = {.f32 = count_correct(right, labels, classes_),
                         .int8 = count_correct(logits, labels, classes_)};
  }
  return judgement;
}

results::Quantization to_record(const Judgement& judgement) {
  const Agreement& agreement = judgement.agreement;
  results::Quantization record{.centred_snr_db = centred_decibels(agreement),
                               .snr_db = plain_decibels(agreement),
                               .images = agreement.examples,
                               .same_top_1 = agreement.same_top_1,
                               .classes_named = agreement.classes_named,
                               .correct_f32 = Unknown{"synthetic images have no true labels"},
                               .correct_int8 = Unknown{"synthetic images have no true labels"},
                               .images_seen = judgement.seen,
                               .trained = judgement.trained};
  if (judgement.correct) {
    record.correct_f32 = judgement.correct->f32;
    record.correct_int8 = judgement.correct->int8;
  }
  return record;
}

std::ostream& operator<<(std::ostream& out, const Judgement& judgement) {
  const Agreement& agreement = judgement.agreement;
  const std::string images =
      agreement.examples == 1 ? "1 image" : fmt::format("{} images", agreement.examples);
  out << stderr_line::quantized
      << (judgement.seen
              ? fmt::format(
                    "on {}, some of which calibration may have seen (the input has too few images)",
                    images)
              : fmt::format("on {} that calibration has not seen", images))
      << fmt::format(
             ": signal-to-noise ratio {} for the differences between images, {} for all logits",
             text_of(centred_decibels(agreement)), text_of(plain_decibels(agreement)))
      << fmt::format("; top-1 agreement {} of {}", agreement.same_top_1, agreement.examples);
  if (agreement.classes_named == 1) {
    out << ", which is not evidence because f32 predicts the same class for all images";
  } else {
    out << fmt::format("; f32 predicts {} classes", agreement.classes_named);
  }
  if (judgement.correct) {
    out << fmt::format("; correct: f32 {}, int8 {}", judgement.correct->f32,
                       judgement.correct->int8);
  }
  if (!judgement.trained) {
    out << "\n"
        << stderr_line::untrained
        << "the weights are untrained (no --init_from), so the result covers only the arithmetic, "
           "not a trained network's accuracy";
  }
  return out;
}

}  // namespace bench

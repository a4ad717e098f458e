#include "bench/verification.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>

#include "bench/batch_request.h"
#include "bench/device.h"
#include "bench/precision.h"
#include "bench/watched_backend.h"
#include "models/base/errors.h"
#include "variable_mgmt/fingerprint.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

/// Relative. What was measured in f32 stands in FINGERPRINT.md; of the networks without batch norm
/// a value within rounding of a ReLU's bend changes the gradients of the layers before it, the
/// first layer's most.
struct Tolerances {
  double loss = 0;
  double gradient = 0;
  double first_gradient = 0;
  double mean_weight_gradient = 0;
  double logits = 0;
};

Tolerances tolerances_for(DType dtype) {
  if (dtype == DType::f64) {
    return {.loss = 1e-9,
            .gradient = 1e-8,
            .first_gradient = 1e-8,
            .mean_weight_gradient = 1e-8,
            .logits = 1e-8};
  }
  if (is_half(dtype)) {
    // At least twice what bf16 showed over the whole zoo; f16 has three bits more.
    return {.loss = 5e-3,
            .gradient = 5e-2,
            .first_gradient = 1e-1,
            .mean_weight_gradient = 5e-2,
            .logits = 1.5e-2};
  }
  return {.loss = 1e-5,
          .gradient = 1e-4,
          .first_gradient = 1e-3,
          .mean_weight_gradient = 2e-4,
          .logits = 1e-5};
}

/// Why a run computes something else than the stored fingerprint; empty when it does not.
std::string difference_to_stored(const RunSettings& settings) {
  const Model& model = *settings.model;
  const std::int64_t classes = own_classes(model, *settings.dataset);
  if (settings.image_size != model.image_size) {
    return cat("the images are ", settings.image_size, " wide, the model's own ", model.image_size);
  }
  if (settings.num_classes != classes) {
    return cat("the network has ", settings.num_classes, " classes, the model's own ", classes);
  }
  if (settings.flags.aux_head) {
    return "the network has an auxiliary head";
  }
  if (settings.flags.label_smoothing > 0) {
    return "the labels are smoothed";
  }
  return settings.training() ? fingerprint_refusal(settings.batch) : "";
}

CheckedNumber checked(std::string_view name, double measured, double stored, double tolerance) {
  return {.name = name,
          .measured = measured,
          .stored = stored,
          .deviation = std::abs(measured - stored) / (stored != 0 ? std::abs(stored) : 1),
          .tolerance = tolerance};
}

/// The fingerprint's values of the variables that the run's graph has.
InitialValues values_for(const RunSettings& settings) {
  InitialValues values = fingerprint_values(build_run_network(settings, 1));
  fold_values(run_folds(settings), values);
  return values;
}

void append(Verification& to, const Verification& from) {
  to.numbers.insert(to.numbers.end(), from.numbers.begin(), from.numbers.end());
}

/// The settings of one model's check; small batches do.
RunSettings settings_for(const ParseResult& parsed, const Model& model, bool training) {
  constexpr std::int64_t kBatch = 2;
  ParseResult own = parsed;
  own.flags.model = model.name;
  own.flags.data_name = model.dataset;
  own.flags.forward_only = !training;
  if (read_batch_request(parsed.flags.batch_size).rule == BatchRequest::Rule::model) {
    own.flags.batch_size = cat(kBatch);
  }
  return resolve_settings(own);
}

Verification verify_model(const RunSettings& settings, Backend& backend) {
  const Graph graph = build_run_graph(settings, backend, settings.batch);
  Tower tower(graph, backend, {.format = settings.format}, values_for(settings));
  return verify_tower(settings, tower);
}

constexpr std::array<std::string_view, 5> kTitles{"loss", "gradient norm", "first gradient norm",
                                                  "mean weight gradient", "logits norm"};
constexpr int kNameWidth = 26;
constexpr int kNumberWidth = 22;

void print_titles(std::ostream& out) {
  out << std::left << std::setw(kNameWidth) << "model" << std::setw(10) << "dataset" << std::right;
  for (const std::string_view title : kTitles) {
    out << std::setw(kNumberWidth) << title;
  }
  out << std::setw(13) << "deviation"
      << "  verdict" << std::endl;
}

void print_line(std::ostream& out, const Model& model, const Verification& result) {
  out << std::left << std::setw(kNameWidth) << model.name << std::setw(10) << model.dataset
      << std::right;
  constexpr int kDigits = 12;
  double worst = 0;
  for (const std::string_view title : kTitles) {
    const auto number =
        std::find_if(result.numbers.begin(), result.numbers.end(),
                     [&](const CheckedNumber& candidate) { return candidate.name == title; });
    if (number == result.numbers.end()) {
      out << std::setw(kNumberWidth) << "-";
    } else {
      out << std::setw(kNumberWidth) << std::setprecision(kDigits) << number->measured;
      worst = std::max(worst, number->deviation);
    }
  }
  out << std::setw(13) << std::setprecision(2) << worst << "  ";
  if (!result.skipped.empty()) {
    out << "not checked: " << result.skipped << "\n";
  } else if (result.passed()) {
    out << "ok\n";
  } else {
    out << "MISMATCH: " << result.failures() << "\n";
  }
  out.flush();
}

}  // namespace

bool Verification::passed() const {
  // A number that is not finite does not compare and so does not pass.
  return std::all_of(numbers.begin(), numbers.end(),
                     [](const CheckedNumber& number) { return number.passed(); });
}

std::string Verification::failures() const {
  std::string text;
  for (const CheckedNumber& number : numbers) {
    if (!number.passed()) {
      text += cat(text.empty() ? "" : "; ", number.name, " is ", number.measured, " instead of ",
                  number.stored, " (relative deviation ", number.deviation, ", allowed ",
                  number.tolerance, ")");
    }
  }
  return text;
}

Verification verify_tower(const RunSettings& settings, Tower& tower) {
  Verification result{.skipped = difference_to_stored(settings)};
  if (!result.skipped.empty()) {
    return result;
  }
  const Fingerprint* found = stored_fingerprint(*settings.model);
  if (found == nullptr) {
    result.skipped = "no fingerprint is stored for this model";
  }
  const Fingerprint stored = found != nullptr ? *found : Fingerprint{};
  const InitialValues values = values_for(settings);
  const Tolerances tolerances = tolerances_for(settings.dtype);
  if (settings.training()) {
    const Fingerprint measured = measure_training_fingerprint(tower, values);
    result.numbers = {
        checked("loss", measured.loss, stored.loss, tolerances.loss),
        checked("gradient norm", measured.gradient_norm, stored.gradient_norm, tolerances.gradient),
        checked("first gradient norm", measured.first_gradient_norm, stored.first_gradient_norm,
                tolerances.first_gradient),
        checked("mean weight gradient", measured.mean_weight_gradient, stored.mean_weight_gradient,
                tolerances.mean_weight_gradient)};
  } else {
    const Fingerprint measured = measure_inference_fingerprint(tower, values);
    result.numbers = {
        checked("logits norm", measured.logits_norm, stored.logits_norm, tolerances.logits)};
  }
  return result;
}

int run_verification(const ParseResult& parsed, std::ostream& out, PhaseWatch* phases) {
  RunSettings asked = resolve_settings(parsed);
  if (const std::string difference = difference_to_stored(asked); !difference.empty()) {
    throw UsageError(
        cat("--verify checks the model's own network, and training in even batches: ", difference));
  }
  Device device = make_device(asked);
  if (phases != nullptr) {
    device.backend = watch_planning(std::move(device.backend), *phases);
  }
  const Precision precision = choose_precision(asked, *device.backend);
  precision.apply(asked);
  if (!precision.note.empty()) {
    LOG(INFO) << "note: " << precision.note;
  }
  const bool all = *parsed.flags.verify == "all";
  bool passed = true;
  print_titles(out);
  for (const Model& model : all_models()) {
    if (!all && &model != asked.model) {
      continue;
    }
    Verification result;
    for (const bool training : {true, false}) {
      if (training && parsed.flags.forward_only) {
        continue;
      }
      RunSettings settings = settings_for(parsed, model, training);
      settings.dtype = asked.dtype;
      if (phases != nullptr) {
        phases->stop_if_asked(cat("before the check of ", model.name));
      }
      const Verification part = verify_model(settings, *device.backend);
      append(result, part);
      result.skipped = result.skipped.empty() ? part.skipped : result.skipped;
    }
    if (phases != nullptr) {
      phases->clear();
    }
    passed = passed && result.skipped.empty() && result.passed();
    print_line(out, model, result);
  }
  return passed ? 0 : 1;
}

}  // namespace bench

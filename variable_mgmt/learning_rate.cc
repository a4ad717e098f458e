#include "variable_mgmt/learning_rate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>

#include "models/base/dataset_sizes.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

constexpr double kConstantRate = 0.005;
constexpr double kCifarNasnetRate = 0.025;
constexpr double kSmallConstantRate = 0.0005;
constexpr double kResnetImagesPerBase = 256;
constexpr double kResnetRampEpochs = 5;
constexpr double kOfficialResnetBase = 0.0125;
constexpr double kOfficialResnetImagesPerBase = 32;

/// In the order of DecayCurve.
constexpr std::array<std::string_view, 3> kCurveNames = {"exponential", "cosine", "polynomial"};

struct EpochPiece {
  double last_epoch;
  double factor;
};
constexpr std::array<EpochPiece, 5> kResnetPieces = {{
    {.last_epoch = 30, .factor = 1},
    {.last_epoch = 60, .factor = 0.1},
    {.last_epoch = 80, .factor = 0.01},
    {.last_epoch = 90, .factor = 0.001},
    {.last_epoch = kNoEnd, .factor = 0.0001},
}};
constexpr std::array<EpochPiece, 4> kCifarResnetPieces = {{
    {.last_epoch = 82, .factor = 0.1},
    {.last_epoch = 123, .factor = 0.01},
    {.last_epoch = 300, .factor = 0.001},
    {.last_epoch = kNoEnd, .factor = 0.0002},
}};
constexpr std::array<EpochPiece, 4> kCifarDensenetPieces = {{
    {.last_epoch = 150, .factor = 0.1},
    {.last_epoch = 225, .factor = 0.01},
    {.last_epoch = 300, .factor = 0.001},
    {.last_epoch = kNoEnd, .factor = 0.0001},
}};

constexpr double kSsdBase = 0.001;
constexpr std::int64_t kSsdImagesPerBase = 32;
constexpr double kSsdRampEpochs = 5;
constexpr std::array<std::int64_t, 2> kSsdLastSteps{160000, 200000};

constexpr double kCifarAlexnetRate = 0.1;
constexpr double kCifarAlexnetFactor = 0.1;
constexpr std::int64_t kCifarAlexnetEpochsPerDecay = 100;

// Rounds towards zero; counts that no run can reach become kForEver.
std::int64_t whole_steps(double steps) {
  return steps < 9e18 ? static_cast<std::int64_t>(steps) : kForEver;
}

struct PiecewiseSchedule {
  std::vector<double> values;
  std::vector<std::int64_t> epochs;  // one fewer than values
};

UsageError bad_schedule(const std::string& text, std::string_view why) {
  return UsageError(
      fmt::format("--piecewise_learning_rate_schedule={}: {}; accepted: LR0;E1;LR1;... with whole, "
                  "increasing epochs",
                  text, why));
}

template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         std::isfinite(static_cast<double>(number));
}

PiecewiseSchedule parse_schedule(const std::string& text) {
  PiecewiseSchedule schedule;
  for (std::size_t begin = 0, part = 0; begin <= text.size(); ++part) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string_view number = std::string_view(text).substr(begin, end - begin);
    const bool parsed = part % 2 == 0 ? parse_number(number, schedule.values.emplace_back())
                                      : parse_number(number, schedule.epochs.emplace_back());
    if (!parsed) {
      throw bad_schedule(text, part % 2 == 0 ? fmt::format("'{}' is not a rate", number)
                                             : fmt::format("'{}' is not an epoch", number));
    }
    begin = end + 1;
  }
  if (schedule.values.size() == schedule.epochs.size()) {
    throw bad_schedule(text, "the last epoch has no rate after it");
  }
  if (std::adjacent_find(schedule.epochs.begin(), schedule.epochs.end(), std::greater_equal<>()) !=
      schedule.epochs.end()) {
    throw bad_schedule(text, "the epochs do not increase");
  }
  return schedule;
}

}  // namespace

DecayCurve decay_curve_named(std::string_view name) {
  const auto* const found = std::find(kCurveNames.begin(), kCurveNames.end(), name);
  check(found != kCurveNames.end(), "unknown learning rate schedule");
  return static_cast<DecayCurve>(found - kCurveNames.begin());
}

std::string_view name_of(DecayCurve curve) { return kCurveNames[static_cast<std::size_t>(curve)]; }

void check_decay(const LearningRateRequest& request) {
  if (request.curve != DecayCurve::exponential) {
    const std::string_view name = name_of(request.curve);
    if (!request.init_learning_rate || request.num_epochs_per_decay <= 0) {
      throw UsageError(
          fmt::format("--learning_rate_schedule={} needs --init_learning_rate and "
                      "--num_epochs_per_decay above 0, the epochs until the lowest rate",
                      name));
    }
    if (request.decay_factor != 0) {
      throw UsageError(fmt::format(
          "--learning_rate_decay_factor={:g} is for --learning_rate_schedule=exponential, not {}",
          request.decay_factor, name));
    }
    if (request.minimum_learning_rate > *request.init_learning_rate) {
      throw UsageError(fmt::format(
          "--minimum_learning_rate={:g} is above --init_learning_rate; accepted: 0 to {:g}",
          request.minimum_learning_rate, *request.init_learning_rate));
    }
    return;
  }
  const bool complete = request.init_learning_rate.has_value() &&
                        request.num_epochs_per_decay > 0 && request.decay_factor > 0;
  if ((request.num_epochs_per_decay != 0 || request.decay_factor != 0) && !complete) {
    throw UsageError(
        "--num_epochs_per_decay and --learning_rate_decay_factor must both be given and above 0, "
        "together with --init_learning_rate");
  }
  if (request.minimum_learning_rate != 0 && !complete) {
    throw UsageError(
        "--minimum_learning_rate needs --init_learning_rate, --num_epochs_per_decay, and either "
        "--learning_rate_decay_factor or --learning_rate_schedule=cosine or polynomial");
  }
}

void check_piecewise(const LearningRateRequest& request) {
  if (!request.piecewise_schedule) {
    return;
  }
  if (request.init_learning_rate || request.decay_factor != 0 ||
      request.minimum_learning_rate != 0 || request.num_epochs_per_decay != 0 ||
      request.curve != DecayCurve::exponential) {
    throw UsageError(
        "--piecewise_learning_rate_schedule cannot be combined with --init_learning_rate, "
        "--learning_rate_decay_factor, --minimum_learning_rate, --num_epochs_per_decay or "
        "--learning_rate_schedule");
  }
  parse_schedule(*request.piecewise_schedule);
}

std::optional<double> constant_rate(ModelRate rate) {
  switch (rate) {
    case ModelRate::constant:
      return kConstantRate;
    case ModelRate::cifar_nasnet:
      return kCifarNasnetRate;
    case ModelRate::small_constant:
      return kSmallConstantRate;
    default:
      return {};
  }
}

LearningRate::LearningRate(const LearningRateOptions& options) {
  check(
      options.examples_per_step > 0 && options.examples_per_epoch > 0 && options.summed_devices > 0,
      "a learning rate needs a batch, a dataset and a device");
  check_piecewise(options.request);
  check_decay(options.request);
  if (options.request.init_learning_rate || options.request.piecewise_schedule) {
    use_request(options);
  } else {
    use_model(options);
  }
}

void LearningRate::use_model(const LearningRateOptions& options) {
  const auto images = static_cast<double>(options.examples_per_step);
  const auto of_update =
      static_cast<double>(options.examples_per_update.value_or(options.examples_per_step));
  // The models' schedules count the epochs of the model's dataset, not of the run's.
  const double imagenet_epoch = kImagenetTrainingImages / images;
  // Only whole steps, as in the original.
  const std::int64_t cifar_steps = kCifarTrainingImages / options.examples_per_step;
  const auto cifar_epoch = static_cast<double>(cifar_steps);
  const double divisor = options.model_divisor;
  const auto use_pieces = [&](std::span<const EpochPiece> table, double rate, double epoch) {
    for (const EpochPiece& piece : table) {
      pieces_.push_back({.last_step = whole_steps(epoch * piece.last_epoch),
                         .value = rate * piece.factor / divisor});
    }
  };
  switch (options.model) {
    case ModelRate::constant:
    case ModelRate::cifar_nasnet:
    case ModelRate::small_constant:
      pieces_ = {{.last_step = kForEver, .value = *constant_rate(options.model) / divisor}};
      return;
    case ModelRate::resnet:
      ramp_steps_ = whole_steps(imagenet_epoch * kResnetRampEpochs);
      use_pieces(kResnetPieces,
                 options.resnet_base * of_update / kResnetImagesPerBase /
                     static_cast<double>(options.summed_devices),
                 imagenet_epoch);
      ramp_target_ = pieces_.front().value;
      return;
    case ModelRate::official_resnet:
      use_pieces(kResnetPieces, kOfficialResnetBase * of_update / kOfficialResnetImagesPerBase,
                 imagenet_epoch);
      return;
    case ModelRate::cifar_resnet:
      use_pieces(kCifarResnetPieces, 1, cifar_epoch);
      return;
    case ModelRate::cifar_densenet:
      use_pieces(kCifarDensenetPieces, 1, cifar_epoch);
      return;
    case ModelRate::ssd: {
      double rate = kSsdBase * of_update /
                    static_cast<double>(kSsdImagesPerBase * options.summed_devices) / divisor;
      ramp_steps_ = whole_steps(kCocoTrainingImages / images * kSsdRampEpochs);
      ramp_target_ = rate;
      for (const std::int64_t step : kSsdLastSteps) {
        pieces_.push_back(
            {.last_step = step * kSsdImagesPerBase / options.examples_per_step, .value = rate});
        rate /= 10;
      }
      pieces_.push_back({.last_step = kForEver, .value = rate});
      return;
    }
    case ModelRate::cifar_alexnet:
      pieces_ = {{.last_step = kForEver, .value = kCifarAlexnetRate / divisor}};
      // With a batch larger than a hundred epochs, the rate falls in every step.
      decay_steps_ = std::max<std::int64_t>(
          kCifarAlexnetEpochsPerDecay * kCifarTrainingImages / options.examples_per_step, 1);
      decay_factor_ = kCifarAlexnetFactor;
      return;
  }
}

void LearningRate::use_request(const LearningRateOptions& options) {
  const LearningRateRequest& request = options.request;
  const double steps_per_epoch = static_cast<double>(options.examples_per_epoch) /
                                 static_cast<double>(options.examples_per_step);
  if (request.piecewise_schedule) {
    const PiecewiseSchedule schedule = parse_schedule(*request.piecewise_schedule);
    for (std::size_t i = 0; i < schedule.epochs.size(); ++i) {
      const double steps = static_cast<double>(schedule.epochs[i]) * steps_per_epoch;
      pieces_.push_back({.last_step = whole_steps(steps) - 1, .value = schedule.values[i]});
    }
    pieces_.push_back({.last_step = kForEver, .value = schedule.values.back()});
  } else {
    pieces_ = {{.last_step = kForEver, .value = *request.init_learning_rate}};
  }
  if (request.num_epochs_per_decay > 0) {
    decay_steps_ = whole_steps(steps_per_epoch * request.num_epochs_per_decay);
    decay_factor_ = request.decay_factor;
    curve_ = request.curve;
    power_ = request.power;
    minimum_ = request.minimum_learning_rate;
    if (decay_steps_ < 1) {
      throw UsageError(
          fmt::format("--num_epochs_per_decay={:g}: shorter than one step of {} examples",
                      request.num_epochs_per_decay, options.examples_per_step));
    }
  }
  ramp_steps_ = whole_steps(steps_per_epoch * request.num_warmup_epochs);
  ramp_target_ = pieces_.front().value;
}

double LearningRate::at(std::int64_t global_step) const {
  if (global_step < ramp_steps_) {
    return ramp_target_ * static_cast<double>(global_step) / static_cast<double>(ramp_steps_);
  }
  const auto piece = std::find_if(pieces_.begin(), pieces_.end() - 1, [&](const Piece& candidate) {
    return global_step <= candidate.last_step;
  });
  if (decay_steps_ == 0) {
    return piece->value;
  }
  if (curve_ != DecayCurve::exponential) {
    const double fraction = std::min(
        static_cast<double>(global_step - ramp_steps_) / static_cast<double>(decay_steps_), 1.0);
    const double left = curve_ == DecayCurve::cosine
                            ? (1 + std::cos(std::numbers::pi * fraction)) / 2
                            : std::pow(1 - fraction, power_);
    return minimum_ + (piece->value - minimum_) * left;
  }
  const std::int64_t decays = global_step / decay_steps_;
  return std::max(piece->value * std::pow(decay_factor_, static_cast<double>(decays)), minimum_);
}

}  // namespace bench

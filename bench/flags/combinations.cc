#include "bench/flags/combinations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {
namespace {

bool reduces_with_nccl(const Flags& flags) {
  return flags.all_reduce_spec && flags.all_reduce_spec->find("nccl") != std::string::npos;
}

bool has_algorithms_by_size(const Flags& flags) {
  return flags.all_reduce_spec.value_or("").find(':') != std::string::npos;
}

bool is_debugger_address(const std::string& text) {
  const std::size_t colon = text.find(':');
  return text == "cli" || (colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
                           text.find_first_not_of("0123456789", colon + 1) == std::string::npos);
}

int evaluations_during_training(const Flags& flags) {
  return int{flags.eval_during_training_every_n_steps.has_value()} +
         int{flags.eval_during_training_every_n_epochs.has_value()} +
         int{!flags.eval_during_training_at_specified_steps.empty()} +
         int{!flags.eval_during_training_at_specified_epochs.empty()};
}

bool is_frozen(const Flags& flags) { return flags.forward_only && flags.freeze_when_forward_only; }

bool scales_loss_automatically(const Flags& flags) {
  return asks_for_16_bits(flags) && flags.fp16_enable_auto_loss_scale;
}

/// A sweep with a single number of devices is refused for that reason.
bool sweeps(const Flags& flags) {
  return flags.scaling_sweep && flags.scaling_sweep->find(',') != std::string::npos;
}

bool uses_several_devices(const Flags& flags) {
  return flags.num_gpus > 1 || flags.virtual_gpus > 1 || sweeps(flags);
}

/// The flag that requests several devices, as the user wrote it.
std::string devices_flag(const Flags& flags) {
  if (sweeps(flags)) {
    return fmt::format("--scaling_sweep={}", *flags.scaling_sweep);
  }
  return flags.virtual_gpus > 0 ? fmt::format("--virtual_gpus={}", flags.virtual_gpus)
                                : fmt::format("--num_gpus={}", flags.num_gpus);
}

/// The flag that ends the program without a measured run, or an empty text.
std::string_view ending_flag(const Flags& flags) {
  return flags.verify          ? "--verify"
         : flags.dump_tensors  ? "--dump_tensors"
         : !flags.dump.empty() ? "--dump"
                               : "";
}

bool measures_nothing(const Flags& flags) { return !ending_flag(flags).empty(); }

bool dumps(const Flags& flags, std::string_view what) {
  return std::find(flags.dump.begin(), flags.dump.end(), what) != flags.dump.end();
}

/// A row of refusals.inc.
struct Refusal {
  bool (*applies)(const Flags& flags, const BatchRequest& batch);
  std::string_view message;
  bool missing;
};

#define BENCH_ROW(condition, message, missing)                                               \
  {[]([[maybe_unused]] const Flags& f, [[maybe_unused]] const BatchRequest& batch) -> bool { \
     return condition;                                                                       \
   },                                                                                        \
   message, missing},
#define BENCH_REFUSED(condition, message) BENCH_ROW(condition, message, false)
#define BENCH_MISSING(condition, message) BENCH_ROW(condition, message, true)
constexpr auto kRefusals = std::to_array<Refusal>({
#include "bench/flags/refusals.inc"
});
#undef BENCH_ROW
#undef BENCH_REFUSED
#undef BENCH_MISSING

std::string text_of(const results::FlagValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return "";
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

/// Replaces the placeholders of a message.
std::string filled(std::string_view message, const Flags& flags) {
  std::map<std::string_view, std::string> values{{"devices", devices_flag(flags)},
                                                 {"ending", std::string(ending_flag(flags))}};
  for (const auto& [name, value] : flag_values(flags)) {
    values.emplace(name, text_of(value));
  }
  std::string text;
  while (true) {
    const std::size_t open = message.find('{');
    text += message.substr(0, open);
    if (open == std::string_view::npos) {
      return text;
    }
    const std::size_t close = message.find('}', open);
    text += values.at(message.substr(open + 1, close - open - 1));
    message.remove_prefix(close + 1);
  }
}

template <class T>
void check_numbers(std::string_view flag, const std::vector<std::string>& list,
                   std::string_view expected) {
  for (const std::string& text : list) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || read != end || !std::isfinite(static_cast<double>(number)) ||
        number < 0) {
      throw UsageError(fmt::format("--{}: '{}' is not {}", flag, text, expected));
    }
  }
}

/// Checks --hierarchical_copy with each number of devices in a sweep. Another check reports entries
/// that are not numbers.
void check_swept_halves(const std::string& sweep) {
  for (const std::string& word : split_text(sweep, ',')) {
    int devices = 0;
    const char* end = word.data() + word.size();
    const auto [read, error] = std::from_chars(word.data(), end, devices);
    if (error == std::errc() && read == end && devices % 2 != 0) {
      throw UsageError(
          fmt::format("--scaling_sweep={} cannot be combined with --hierarchical_copy, which needs "
                      "an even number of devices: remove {} from the sweep",
                      sweep, word));
    }
  }
}

}  // namespace

LearningRateRequest learning_rate_request(const Flags& flags) {
  return {.init_learning_rate = flags.init_learning_rate,
          .piecewise_schedule = flags.piecewise_learning_rate_schedule,
          .curve = decay_curve_named(flags.learning_rate_schedule),
          .num_epochs_per_decay = flags.num_epochs_per_decay,
          .decay_factor = flags.learning_rate_decay_factor,
          .minimum_learning_rate = flags.minimum_learning_rate,
          .power = flags.learning_rate_power,
          .num_warmup_epochs = flags.num_learning_rate_warmup_epochs};
}

bool asks_for_16_bits(const Flags& flags) {
  return flags.use_fp16 || flags.dtype == "bf16" || flags.dtype == "f16";
}

void validate(const Flags& flags, const BatchRequest& batch) {
  check_piecewise(learning_rate_request(flags));
  check_decay(learning_rate_request(flags));
  for (const Refusal& refusal : kRefusals) {
    if (refusal.applies(flags, batch)) {
      const std::string message = filled(refusal.message, flags);
      if (refusal.missing) {
        throw MissingFlag(message);
      }
      throw UsageError(message);
    }
  }
  check_numbers<std::int64_t>("eval_during_training_at_specified_steps",
                              flags.eval_during_training_at_specified_steps, "a step number");
  check_numbers<double>("eval_during_training_at_specified_epochs",
                        flags.eval_during_training_at_specified_epochs, "a number of epochs");
  if (flags.hierarchical_copy && flags.scaling_sweep) {
    check_swept_halves(*flags.scaling_sweep);
  }
}

}  // namespace bench

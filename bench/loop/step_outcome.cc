#include "bench/loop/step_outcome.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "models/base/errors.h"

namespace bench {

StepOutcome mean_outcome(const std::vector<StepOutcome>& outcomes) {
  StepOutcome mean;
  for (const StepOutcome& outcome : outcomes) {
    mean.device = std::max(mean.device, outcome.device);
    mean.transfers = std::max(mean.transfers, outcome.transfers);
    mean.loss += outcome.loss;
    mean.accuracies.top_1 += outcome.accuracies.top_1;
    mean.accuracies.top_5 += outcome.accuracies.top_5;
  }
  const auto count = static_cast<double>(outcomes.size());
  mean.loss /= count;
  mean.accuracies.top_1 /= count;
  mean.accuracies.top_5 /= count;
  return mean;
}

void append_outcome(const StepOutcome& outcome, const Workload& workload, SessionResult& result) {
  result.steps.push_back(outcome.duration);
  if (outcome.device) {
    result.device_steps.push_back(*outcome.device);
  }
  if (workload.training()) {
    result.loss_first = result.loss_first.value_or(outcome.loss);
    result.loss_last = outcome.loss;
    result.losses.push_back(outcome.loss);
  }
}

std::optional<report::Accuracies> accuracies_of(const StepOutcome& outcome,
                                                const Workload& workload) {
  return workload.accuracies() ? std::optional(outcome.accuracies) : std::nullopt;
}

StepOutcome agreed_outcome(World& world, const StepOutcome& own) {
  StepOutcome agreed = own;
  agreed.loss = 0;
  agreed.accuracies = {};
  const std::vector<std::string> all =
      world.gather(fmt::format("{} {} {} {}", own.loss, own.accuracies.top_1, own.accuracies.top_5,
                               static_cast<int>(own.stop)));
  const auto processes = static_cast<double>(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const char* at = all[rank].c_str();
    const auto next = [&at] {
      char* end = nullptr;
      const double number = std::strtod(at, &end);  // Also reads "nan".
      at = end;
      return number;
    };
    agreed.loss += next() / processes;
    agreed.accuracies.top_1 += next() / processes;
    agreed.accuracies.top_5 += next() / processes;
    const auto stop = static_cast<Stop>(static_cast<int>(next()));
    if (rank == 0 || stop == Stop::interrupted) {
      agreed.stop = stop;
    }
  }
  return agreed;
}

}  // namespace bench

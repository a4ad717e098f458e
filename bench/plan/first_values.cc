#include "bench/plan/first_values.h"

#include "bench/plan/network.h"
#include "models/base/threads.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

/// Thrown in the background threads when the values are no longer needed.
class GivenUp : public std::exception {};

}  // namespace

FirstValues::FirstValues(const Workload& workload, const Graph& network,
                         const RunTensorFiles& files)
    : values_(start_async([&, this] { return make(workload, network, files); })) {}

FirstValues::~FirstValues() {
  given_up_ = true;
  if (values_.valid()) {
    values_.wait();
  }
}

InitialValues FirstValues::get(PhaseWatch& phases) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  do {
    const Phase& phase = *phase_;
    phases.tell(phase.name, phase.unit, done_, total_);
  } while (values_.wait_for(kBetweenLooks) != std::future_status::ready);
  return values_.get();
}

InitialValues FirstValues::make(const Workload& workload, const Graph& network,
                                const RunTensorFiles& files) {
  InitialValues values = initial_values(network, workload.seed, told(kDrawing));
  files.load(values, told(kReading));
  if (workload.processes > 1) {
    loaded_sum_ = files.loaded_sum(values);
  }
  fold_values(run_folds(workload), values);
  return values;
}

Watch FirstValues::told(const Phase& phase) {
  return [this, &phase](std::int64_t done, std::int64_t total) {
    done_ = done;
    total_ = total;
    phase_ = &phase;
    if (given_up_) {
      throw GivenUp();
    }
  };
}

}  // namespace bench

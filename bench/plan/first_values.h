#pragma once

#include <atomic>
#include <future>
#include <string>

#include "bench/plan/settings.h"
#include "bench/plan/tensor_files.h"
#include "bench/terminal/phase_watch.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// Draws, reads and folds the initial values of a run's variables in background threads. To keep
/// these threads unbound, construct this before the device.
class FirstValues {
 public:
  /// Starts the background work. All arguments must outlive this object.
  FirstValues(const Workload& workload, const Graph& network, const RunTensorFiles& files);
  /// Cancels work whose result was not requested, and waits until it has stopped.
  ~FirstValues();
  FirstValues(const FirstValues&) = delete;
  FirstValues& operator=(const FirstValues&) = delete;

  /// Waits for the values. `phases` receives the progress and may end the run. Call once.
  InitialValues get(PhaseWatch& phases);
  /// After get(), with several processes: RunTensorFiles::loaded_sum().
  [[nodiscard]] const std::string& loaded_sum() const { return loaded_sum_; }

 private:
  InitialValues make(const Workload& workload, const Graph& network, const RunTensorFiles& files);
  struct Phase {
    const char* name;
    const char* unit;
  };
  static constexpr Phase kDrawing{"drawing the first values", "part"};
  static constexpr Phase kReading{"reading the first values", "variable"};

  /// Receives the progress of the background threads.
  Watch told(const Phase& phase);

  std::atomic<const Phase*> phase_{&kDrawing};
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::int64_t> total_{1};
  std::atomic<bool> given_up_{false};
  std::string loaded_sum_;
  std::future<InitialValues> values_;
};

}  // namespace bench

#pragma once

#include <atomic>
#include <future>

#include "bench/host/phase_watch.h"
#include "bench/plan/settings.h"
#include "bench/plan/tensor_files.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// The first values of a run's variables (drawn, read, folded), made in the background by threads
/// that are not bound to processors when this is made before the device.
class FirstValues {
 public:
  /// Begins. All arguments must outlive this.
  FirstValues(const RunSettings& settings, const Graph& network, const RunTensorFiles& files);
  /// Gives up what was not asked for, and waits until that is so.
  ~FirstValues();
  FirstValues(const FirstValues&) = delete;
  FirstValues& operator=(const FirstValues&) = delete;

  /// Waits for them; `phases` hears how far they are and may end the run. Once.
  InitialValues get(PhaseWatch& phases);

 private:
  InitialValues make(const RunSettings& settings, const Graph& network,
                     const RunTensorFiles& files);
  struct Phase {
    const char* name;
    const char* unit;
  };
  static constexpr Phase kDrawing{"drawing the first values", "part"};
  static constexpr Phase kReading{"reading the first values", "variable"};

  /// What the threads in the background tell of themselves.
  Watch told(const Phase& phase);

  std::atomic<const Phase*> phase_{&kDrawing};
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::int64_t> total_{1};
  std::atomic<bool> given_up_{false};
  std::future<InitialValues> values_;
};

}  // namespace bench

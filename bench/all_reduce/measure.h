#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "variable_mgmt/collectives/trial.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// One set of buffers, added by every spec.
struct AllReduceCase {
  std::vector<std::size_t> elements;
  DType dtype = DType::f32;
  [[nodiscard]] std::size_t bytes() const;
};

/// The results of one spec for a case.
struct SpecResult {
  /// The time of each step, divided by its number of all-reduces.
  AllReduceTiming timing;
  /// The number of elements, over all towers, that differ from the exact sum.
  std::size_t wrong = 0;
};

struct CaseResult {
  AllReduceCase measured;
  /// Set if the towers' memory is host memory.
  std::optional<AllReduceTiming> bound = {};
  std::vector<SpecResult> specs = {};
};

struct MeasureSettings {
  std::vector<std::string> names;
  /// The processes, each with such towers; null: one process.
  World* world = nullptr;
  std::vector<std::vector<AllReduceRange>> specs;
  int iters_per_step = 1;
  int warm_up = 1;
  int repetitions = 1;
  /// The towers compute in host memory, whose bound is timed too.
  bool bound = true;
  /// Makes the device of tower `rank`; called on the tower's thread.
  std::function<std::unique_ptr<Backend>(int rank)> make_backend;
};

/// Runs every tower on a separate thread. Times are those of this process's towers, and wrong
/// elements those of all processes, which must all call it. Throws the first failure that another
/// tower did not cause.
CaseResult measure_case(const MeasureSettings& settings, const AllReduceCase& measured);

}  // namespace bench

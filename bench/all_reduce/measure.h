#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "variable_mgmt/collectives/trial.h"

namespace bench {

/// One set of stretches, added by every spec.
struct AllReduceCase {
  std::vector<std::size_t> elements;
  DType dtype = DType::f32;
  [[nodiscard]] std::size_t bytes() const;
};

/// What one spec did with it.
struct SpecResult {
  /// Each step's, divided by the all-reduces in it.
  AllReduceTiming timing;
  /// Of all towers' elements those that are not exactly the sum.
  std::size_t wrong = 0;
};

struct CaseResult {
  AllReduceCase measured;
  /// Where the towers' memory is the host's.
  std::optional<AllReduceTiming> bound = {};
  std::vector<SpecResult> specs = {};
};

struct MeasureSettings {
  std::vector<std::string> names;
  std::vector<std::vector<AllReduceRange>> specs;
  int iters_per_step = 1;
  int warm_up = 1;
  int repetitions = 1;
  /// The towers compute in the host's memory, whose bound is timed too.
  bool bound = true;
  /// Makes tower `rank`'s device, on its thread.
  std::function<std::unique_ptr<Backend>(int rank)> make_backend;
};

/// Runs every tower on a thread of its own. Throws the first tower's failure that is no other's.
CaseResult measure_case(const MeasureSettings& settings, const AllReduceCase& measured);

}  // namespace bench

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/executor.h"
#include "models/base/tensor_file.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// The variables of a graph that a file provides.
struct LoadPlan {
  std::vector<std::string> names{};  ///< In both, and loaded.
  std::size_t missing = 0;           ///< Variables that are missing in the file.
  std::size_t extra = 0;             ///< Tensors that do not belong to a variable.
  std::size_t misshapen = 0;         ///< In both, but of another shape or type.
  /// Why the misshapen tensors are not loaded: "fc.weight is 10x512, not 11x512, fc.bias is 10, not
  /// 11 and 37 more".
  std::string misfits{};
};

enum class LoadMode { complete, partial };

/// Compares names, canonical shapes and types; ignores torchvision's counters `num_batches_tracked`
/// and what a checkpoint has besides variables (run_state.h). Throws one UsageError that lists
/// missing and unknown names, different shapes and types that are not floating. LoadMode::partial
/// ignores all of these as long as something fits.
LoadPlan plan_load(const TensorFile& file, const Graph& graph, LoadMode mode);

/// Replaces the values of the plan's names in `values` with those of the file. `watch` is called
/// for each variable. Throws what TensorFile::read does.
void load_variables(const TensorFile& file, const LoadPlan& plan, InitialValues& values,
                    const Watch& watch = {});

/// Writes all variables, including moving statistics, in canonical order.
void save_variables(Executor& executor, const AtomicFile& file,
                    const std::map<std::string, std::string>& metadata);

/// The shape as stored in a tensor file.
std::vector<std::int64_t> stored_shape(const Shape& shape);

}  // namespace bench

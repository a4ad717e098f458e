#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/executor.h"
#include "models/base/tensor_file.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// Which of a graph's variables a file gives.
struct LoadPlan {
  std::vector<std::string> names{};  ///< In both, and taken.
  std::size_t missing = 0;           ///< Variables that the file does not have.
  std::size_t extra = 0;             ///< Tensors that are no variables.
  std::size_t misshapen = 0;         ///< In both, but of another shape or of no floating type.
  /// Why those are not taken: "fc.weight is 10x512, not 11x512, fc.bias is 10, not 11 and 37 more".
  std::string misfits{};
};

enum class LoadMode { complete, partial };

/// Compares names, canonical shapes and types; torchvision's counters `num_batches_tracked` are
/// passed over. Throws one UsageError that lists what is missing, what the graph does not have, and
/// what has another shape or no floating type. With LoadMode::partial all of that is passed over as
/// long as something fits.
LoadPlan plan_load(const TensorFile& file, const Graph& graph, LoadMode mode);

/// Puts the file's values in the place of those in `values`, for the names of the plan; `watch`
/// hears of each variable. Throws what TensorFile::read does.
void load_variables(const TensorFile& file, const LoadPlan& plan, InitialValues& values,
                    const Watch& watch = {});

/// Writes all variables, moving statistics included, in canonical order.
void save_variables(Executor& executor, const AtomicFile& file,
                    const std::map<std::string, std::string>& metadata);

/// The shape as a tensor file tells it.
std::vector<std::int64_t> stored_shape(const Shape& shape);

}  // namespace bench

#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/store/record_fields.h"

namespace bench::results {

/// A workload and its text, which others may share.
struct NamedWorkload {
  std::string text{};  ///< From workload_text().
  Fields fields{};     ///< All or part of its workload_fields().
};

/// Distinct names of the workloads: each text, followed by a few fields if several workloads share
/// it, such as "lenet train bs8 f32 (num_batches 20)". Fields that follow from others, such as the
/// number of parameters, come last.
std::vector<std::string> distinct_names(std::span<const NamedWorkload> workloads);

}  // namespace bench::results

#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/store/record_fields.h"

namespace bench::results {

/// A work that stands beside others under its text.
struct NamedWork {
  std::string text{};  ///< As workload_text() has it.
  Fields fields{};     ///< All or part of its workload_fields().
};

/// A name of each that the others do not have: its text, and where works with the same text differ
/// in their fields, behind it a few of these that tell them apart, such as "lenet train bs8
/// f32 (num_batches 20)". What follows from others, as the number of parameters does, is named
/// last.
std::vector<std::string> distinct_names(std::span<const NamedWork> works);

}  // namespace bench::results

#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// The workload fields that two sides may differ in and still match. A name is whole or the last
/// part, such as "workload.layout", "layout" or "num_batches".
using IgnoredFields = std::vector<std::string>;

/// Equal for runs of the same workload, apart from the ignored fields.
std::string workload_key_without(const StoredRun& run, const IgnoredFields& ignored);

/// Throws UsageError, which names `option`, for a name that is not a field of any of these runs.
void check_fields(std::span<const StoredRun> runs, const std::vector<std::string>& names,
                  const char* option);

/// The run's values of these workload fields: "model resnet50, batch_per_device 64".
std::string fields_text(const StoredRun& run, const std::vector<std::string>& names);

/// Runs of the same workload on two sides.
struct MatchedWorkload {
  std::string workload{};  ///< Name for readers, distinct from the other workloads' names.
  std::vector<const StoredRun*> base{};
  std::vector<const StoredRun*> other{};
};

struct Matching {
  std::vector<MatchedWorkload> workloads{};  ///< By the workload's name.
  std::vector<std::string> only_base{};      ///< The workloads that the other side lacks.
  std::vector<std::string> unmatched{};      ///< A sentence for each workload that one side lacks.
};

/// Throws DataError if the sides have no common workload. The message names the fields in which the
/// nearest workloads differ, and both values.
Matching match_workloads(std::span<const StoredRun> base, std::span<const StoredRun> other,
                         const IgnoredFields& ignored);

/// The pairs of which both runs have the workload and the metric. Partners have the same place in
/// `base` and `other`, which `work` points into.
MatchedWorkload whole_pairs(const MatchedWorkload& work, const std::string& metric,
                            const std::vector<StoredRun>& base,
                            const std::vector<StoredRun>& other);

}  // namespace bench::results

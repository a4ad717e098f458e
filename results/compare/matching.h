#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// What two sides may differ in and still be the same work: the names of workload fields, whole or
/// their last parts, such as "workload.layout", "layout" or "num_batches".
using IgnoredFields = std::vector<std::string>;

/// Equal for runs of the same work but for the ignored fields.
std::string work_key(const StoredRun& run, const IgnoredFields& ignored);

/// Throws UsageError, which names `option`, for a name of which no run of these has a field.
void check_fields(std::span<const StoredRun> runs, const std::vector<std::string>& names,
                  const char* option);

/// The run's values of these fields of its work: "model resnet50, batch_per_device 64".
std::string fields_text(const StoredRun& run, const std::vector<std::string>& names);

/// Runs of the same work on two sides.
struct MatchedWork {
  std::string workload{};  ///< As readers know it; unlike the other works'.
  std::vector<const StoredRun*> base{};
  std::vector<const StoredRun*> other{};
};

struct Matching {
  std::vector<MatchedWork> works{};      ///< By the workload's name.
  std::vector<std::string> unmatched{};  ///< A sentence for each work that one side lacks.
};

/// Throws DataError where the sides have no work in common; it names the fields in which those
/// nearest to each other differ, and both values.
Matching match_work(std::span<const StoredRun> base, std::span<const StoredRun> other,
                    const IgnoredFields& ignored);

}  // namespace bench::results

#pragma once

#include <optional>
#include <vector>

#include "results/record/json_section.h"
#include "results/record/training.h"

namespace bench::results {

/// Adds the members `checkpoints` and `evaluations` to a record.
void put_training(Section& out, const std::optional<Checkpoints>& checkpoints,
                  const std::vector<Evaluation>& evaluations);

}  // namespace bench::results

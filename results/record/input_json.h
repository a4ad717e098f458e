#pragma once

#include "results/record/input.h"
#include "results/record/json_section.h"

namespace bench::results {

/// Adds the members of `dataset` to a record.
void put_dataset(Section out, const Dataset& dataset);

/// Adds the members of `input` to a record.
void put_input(Section out, const Input& input);

}  // namespace bench::results

#pragma once

#include "results/record/conditions.h"
#include "results/record/json_section.h"

namespace bench::results {

/// Adds the top-level members of the record that label it.
void put_labels(Section& out, const Labels& labels);
void put_cost(Section& out, const Captured<Cost>& cost);
void put_energy(Section out, const Energy& energy);
void put_storage(Section& out, const Captured<Storage>& storage);
void put_busy(Section& out, const Captured<std::vector<BusyProcess>>& busy);
void put_cpu_watched(Section out, const CpuWatched& watched);
void put_throttling(Section out, const Throttling& throttling);

}  // namespace bench::results

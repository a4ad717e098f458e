#pragma once

#include <memory>

#include "bench/terminal/phase_watch.h"
#include "kernels/backend.h"

namespace bench {

/// Returns a backend whose planning is watched. `phases` must outlive it. `phases` is called for
/// each planned layer and for the other queries of planning, and may end the run there. Steps and
/// accesses to variables are not watched.
std::unique_ptr<Backend> watch_planning(std::unique_ptr<Backend> backend, PhaseWatch& phases);

}  // namespace bench

#pragma once

#include <memory>

#include "bench/host/phase_watch.h"
#include "kernels/backend.h"

namespace bench {

/// A backend whose planning is watched: `phases`, which must outlive it, hears of each layer that
/// is planned and may end the run there and between what else planning asks. Nothing that steps do,
/// nor reading and writing variables, is watched.
std::unique_ptr<Backend> watch_planning(std::unique_ptr<Backend> backend, PhaseWatch& phases);

}  // namespace bench

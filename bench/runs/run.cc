#include "bench/runs/run.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "bench/runs/conclude.h"
#include "bench/runs/measure.h"
#include "bench/runs/prepare.h"
#include "models/base/errors.h"

namespace bench {
namespace {

/// Returns the first exit status other than 0 of any process, and names the process.
int worst_status(World& world, int own, std::ostream& err) {
  const std::vector<std::string> all = world.gather(std::to_string(own));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == "0") {
      continue;
    }
    if (rank > 0) {
      err << fmt::format("bench: {} failed its check of the results\n",
                         world.name(static_cast<int>(rank)));
    }
    return std::stoi(all[rank]);
  }
  return 0;
}

}  // namespace

RunOutcome run_once(const RunRequest& request, RunHost& host) {
  Begun begun = begin_run(request, host);
  Measured measured;
  int status = 0;
  try {
    World& world = *host.world.world;
    world.set_phase("planning");
    auto prepared = agreed(world, [&] { return prepare(begun, host); });
    if (prepared) {
      world.set_phase("measuring");
      measured = measure(begun, *prepared, host);
      status = worst_status(world, conclude(begun, *prepared, measured, host), host.streams.err);
    }
  } catch (const RunEnded& ended) {
    SessionResult& session = measured.session;
    const bool all_measured = session.stop != Stop::interrupted && !session.steps.empty();
    session.stop = Stop::interrupted;
    const bool by_user = host.interrupt.requested() || host.world.several();
    begun.file.write(by_user ? results::Status::kAborted : results::Status::kFailed, !all_measured,
                     fmt::format("{} {}", host.end_reason(), ended.what()));
    status = host.end(ended);
  }
  return {.status = status,
          .session = std::move(measured.session),
          .memory = begun.memory,
          .peak_rss = measured.peak_rss};
}

}  // namespace bench

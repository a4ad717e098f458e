#include "bench/runs/run.h"

#include <glog/logging.h>

#include <utility>

#include "bench/runs/conclude.h"
#include "bench/runs/measure.h"
#include "bench/runs/prepare.h"
#include "bench/runs/run_world.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

bool has_lost_a_rank(const World& world) {
  for (int rank = 0; rank < world.size(); ++rank) {
    if (world.has_lost(rank)) {
      return true;
    }
  }
  return false;
}

/// Prints why a process has other kernels than its checkpoint, if one has. Waits for all processes.
void note_choices(World& world, const Checkpointing& checkpoints) {
  const std::vector<std::string> notices = world.gather(checkpoints.choices_notice());
  for (std::size_t rank = 0; rank < notices.size(); ++rank) {
    if (!notices[rank].empty()) {
      const std::string name =
          world.size() == 1 ? "" : fmt::format("{}: ", world.name(static_cast<int>(rank)));
      LOG(INFO) << "note: " << name << printable(notices[rank]);
      return;
    }
  }
}

/// Gives all processes the type that rank 0 chooses for --use_fp16. Waits for all processes.
void share_half(RunSettings& settings, RunHost& host) {
  World& world = *host.world.world;
  if (!settings.workload.choose_half || !host.world.several()) {
    return;
  }
  const std::string own = agreed(world, [&] {
    RunSettings copy = settings;
    if (world.rank() == 0) {
      host.devices(copy);
    }
    return std::string(name_of(copy.workload.dtype));
  });
  const std::string first = world.gather(own).front();
  if (world.rank() > 0) {
    settings.workload.earlier_half = {
        .dtype = first == name_of(DType::bf16) ? DType::bf16 : DType::f16,
        .source = EarlierHalf::Source::rank_0};
  }
}

}  // namespace

RunOutcome run_once(const RunRequest& request, RunHost& host) {
  World& world = *host.world.world;
  Begun begun = agreed(world, [&] { return begin_run(request, host); });
  Measured measured;
  int status = 0;
  try {
    world.set_phase("planning");
    open_checkpoints(begun, host);
    share_half(begun.settings, host);
    auto prepared = agreed(world, [&] { return prepare(begun, host); });
    if (prepared) {
      if (prepared->checkpoints != nullptr) {
        note_choices(world, *prepared->checkpoints);
      }
      if (World* const others = host.world.others()) {
        if (begun.settings.workload.training()) {
          check_equal_regions(*others, prepared->towers->first().executor());
        }
        check_same(
            *others, fmt::format("begins with variables of the checksum {}", prepared->loaded_sum),
            fmt::format("give all hosts the same file of --{}", begun.settings.workload.init_flag));
      }
      world.set_phase("measuring");
      measured = measure(begun, *prepared, host);
      status = conclude(begun, *prepared, measured, host);
    }
  } catch (const RunEnded& ended) {
    // After a loss, the launcher interrupts the other ranks.
    if (has_lost_a_rank(world)) {
      begun.file.write(results::Status::kFailed, !measured.session.all_measured(), world.failure());
      throw DeviceError(world.failure());
    }
    SessionResult& session = measured.session;
    // The processes agree only on an interruption of the steps.
    if (host.world.several() && session.stop != Stop::interrupted) {
      world.fail(
          fmt::format("{}: {} {}", world.name(world.rank()), host.end_reason(), ended.what()));
    }
    const bool all_measured = session.all_measured();
    session.stop = Stop::interrupted;
    const bool by_user =
        host.interrupt.requested() || (host.world.several() && host.streams.out.good());
    begun.file.write(by_user ? results::Status::kAborted : results::Status::kFailed, !all_measured,
                     fmt::format("{} {}", host.end_reason(), ended.what()));
    status = host.end(ended);
  } catch (const std::exception&) {
    if (const std::string failure = world.failure(); !failure.empty()) {
      begun.file.write(results::Status::kFailed, !measured.session.all_measured(), failure);
    }
    throw;
  }
  return {.status = status,
          .session = std::move(measured.session),
          .unit = begun.settings.workload.model->unit(),
          .units_per_step = begun.settings.workload.units_per_step(),
          .memory = begun.memory,
          .peak_rss = measured.peak_rss};
}

}  // namespace bench

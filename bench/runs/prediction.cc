#include "bench/runs/prediction.h"

#include <algorithm>
#include <numeric>
#include <ostream>

#include "bench/report/scaling_prediction.h"
#include "bench/terminal/text_table.h"
#include "models/base/errors.h"
#include "results/environment/decimal.h"

namespace bench {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// The step as it would be without communication. That of the slowest rank, which waits least.
StepTiming timing_of(const SessionResult& session, const SumTimes& sums,
                     const std::vector<results::WorldRank>& ranks) {
  const auto steps = static_cast<double>(session.steps.size());
  const auto summed = static_cast<double>(sums.steps);
  double step = seconds(std::accumulate(session.steps.begin(), session.steps.end(),
                                        std::chrono::nanoseconds(0))) /
                steps;
  double exposed = step;
  for (const results::WorldRank& rank : ranks) {
    exposed = std::min(
        exposed, rank.exposed_communication.known() ? rank.exposed_communication.value() : 0.0);
  }
  StepTiming timing{
      .step = step - exposed, .computing = seconds(sums.backward) / summed, .buckets = {}};
  for (const SumTimes::Piece& piece : sums.pieces) {
    timing.buckets.push_back(
        {.bytes = static_cast<double>(piece.bytes), .ready = seconds(piece.ready) / summed});
  }
  return timing;
}

}  // namespace

void predict_speeds(const RunSettings& settings, const SessionResult& session, const SumTimes& sums,
                    results::World& world, std::ostream& out) {
  std::vector<int> wanted = settings.outputs.record.predicted_ranks;
  if (wanted.empty() || session.steps.empty() || sums.steps == 0) {
    return;
  }
  const StepTiming timing = timing_of(session, sums, world.ranks);
  const Fabric fabric{.bytes_per_second = world.link->bytes_per_second,
                      .per_message = world.link->per_message};
  TextTable table(
      {{.title = "processes", .right = true},
       {.title = fmt::format("{}/sec", settings.workload.model->unit().name), .right = true},
       {.title = "efficiency %", .right = true},
       {.title = "measured", .right = true}});
  // The measured number of processes shows how far to trust the others.
  const int own = settings.workload.processes;
  if (!std::binary_search(wanted.begin(), wanted.end(), own)) {
    wanted.insert(std::upper_bound(wanted.begin(), wanted.end(), own), own);
  }
  constexpr double kInPerCent = 100;
  const auto units = static_cast<double>(settings.workload.process_batch() *
                                         settings.workload.model->unit().per_example);
  for (const int ranks : wanted) {
    const double step = predicted_step(timing, fabric, ranks);
    const results::PredictedSpeed speed{
        .ranks = ranks, .images_per_sec = units * ranks / step, .efficiency = timing.step / step};
    table.add_row({std::to_string(ranks), decimal(speed.images_per_sec, 2),
                   decimal(kInPerCent * speed.efficiency, 1),
                   ranks == own ? decimal(session.speed(settings.workload), 2) : ""});
    world.predicted.push_back(speed);
  }
  constexpr double kMega = 1e6;
  out << fmt::format(
             "predicted, not measured: from this run's steps and the link between its processes "
             "({:.1f} MB/s each, {:.1f} us per message; error at another size: {:.0f} %)\n",
             world.link->bytes_per_second / kMega, kMega * world.link->per_message,
             kInPerCent * world.link->error)
      << table;
  constexpr double kUnsteady = 0.2;
  if (world.link->error > kUnsteady) {
    out << "the link's times vary, so the prediction is uncertain: stop other work and try again\n";
  }
}

}  // namespace bench

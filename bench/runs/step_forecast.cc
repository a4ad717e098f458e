#include "bench/runs/step_forecast.h"

#include <ostream>

#include "models/base/errors.h"

namespace bench {

StepForecast forecast_of(const LoweredGraph& lowered) {
  StepForecast forecast{
      .steps = lowered.steps.size(), .launches = launches_of(lowered), .seconds = lowered.seconds};
  for (const Step& step : lowered.steps) {
    forecast.bytes += static_cast<double>(step.work.bytes);
  }
  return forecast;
}

void print_forecast(const LoweredGraph& lowered, const RunSettings& settings, bool launches,
                    std::ostream& out) {
  const StepForecast forecast = forecast_of(lowered);
  const Workload& workload = settings.workload;
  // Virtual towers take turns on one card.
  const int turns = settings.execution.gpu.virtual_towers ? workload.towers : 1;
  const std::int64_t runs = turns * runs_per_step(settings);
  const SpeedUnit unit = settings.workload.model->unit();
  const auto of_step = [&](double of_run) { return static_cast<double>(runs) * of_run; };
  const std::string nodes = launches ? fmt::format("{} nodes and reorders in {} launches",
                                                   forecast.steps, forecast.launches)
                                     : fmt::format("{} nodes and reorders", forecast.steps);
  const double seconds = of_step(forecast.seconds);
  std::string scope = workload.all_towers() == turns ? ""
                      : turns > 1                    ? " per process"
                                                     : " per tower";
  if (workload.training()) {
    scope += workload.all_towers() > 1 ? ", without the optimizer and communication"
                                       : ", without the optimizer";
  }
  out << fmt::format(
      "planned step: {}{}, {:.2f} GB read and written, estimated at {:.2f} ms or {:.1f} "
      "{}/sec{}\n",
      runs > 1 ? fmt::format("{} runs of ", runs) : "", nodes, of_step(forecast.bytes) * 1e-9,
      seconds * 1e3, static_cast<double>(turns * workload.batch * unit.per_example) / seconds,
      unit.name, scope);
}

}  // namespace bench

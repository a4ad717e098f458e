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

void print_forecast(const LoweredGraph& lowered, std::int64_t batch, bool launches,
                    std::ostream& out) {
  const StepForecast forecast = forecast_of(lowered);
  const std::string nodes = launches ? fmt::format("{} nodes and reorders in {} launches",
                                                   forecast.steps, forecast.launches)
                                     : fmt::format("{} nodes and reorders", forecast.steps);
  out << fmt::format(
      "planned step: {}, {:.2f} GB read and written, estimated at {:.2f} ms or {:.1f} images/sec, "
      "without the optimizer\n",
      nodes, forecast.bytes * 1e-9, forecast.seconds * 1e3,
      static_cast<double>(batch) / forecast.seconds);
}

}  // namespace bench

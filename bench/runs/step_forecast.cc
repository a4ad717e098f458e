#include "bench/runs/step_forecast.h"

#include <iomanip>
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
  const auto fixed = [](double number, int digits) {
    return cat(std::fixed, std::setprecision(digits), number);
  };
  out << "planned step: " << forecast.steps << " nodes and reorders"
      << (launches ? cat(" in ", forecast.launches, " launches") : "") << ", "
      << fixed(forecast.bytes * 1e-9, 2) << " GB read and written, estimated at "
      << fixed(forecast.seconds * 1e3, 2) << " ms or "
      << fixed(static_cast<double>(batch) / forecast.seconds, 1)
      << " images/sec, without the optimizer\n";
}

}  // namespace bench

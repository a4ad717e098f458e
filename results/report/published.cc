#include "results/report/published.h"

#include <array>

namespace bench::results {

std::span<const PublishedFigure> published_figures() {
  static constexpr auto kFigures = std::to_array<PublishedFigure>({
#define BENCH_PUBLISHED(hardware, model, setting, images_per_sec, source, date) \
  {hardware, model, setting, images_per_sec, source, date},
#include "results/report/published.inc"
#undef BENCH_PUBLISHED
  });
  return kFigures;
}

}  // namespace bench::results

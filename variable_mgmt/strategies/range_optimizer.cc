#include "variable_mgmt/strategies/range_optimizer.h"

#include <algorithm>

#include "models/base/errors.h"

namespace bench {
namespace {

/// The segments within the range, counted from its beginning.
std::vector<OptimizerSegment> segments_within(const Executor& executor, RegionRange range) {
  std::vector<OptimizerSegment> segments;
  for (OptimizerSegment segment : executor.segments()) {
    if (segment.offset >= range.first && segment.offset < range.last) {
      segment.offset -= range.first;
      segments.push_back(std::move(segment));
    }
  }
  return segments;
}

}  // namespace

RangeOptimizer::RangeOptimizer(Tower& tower, const OptimizerSettings& settings, RegionRange range)
    : tower_(tower),
      range_(range),
      size_(size_of(settings.dtype)),
      optimizer_(
          tower.backend().make_optimizer(settings, segments_within(tower.executor(), range))) {
  check(tower.executor().trained_dtype() == settings.dtype,
        "the optimizer and the variables have different types");
  for (std::size_t slot = 0; slot < row_of(settings.rule).slots(); ++slot) {
    memory_.push_back(tower.backend().allocate(std::max<std::size_t>(range.count() * size_, 1)));
    slots_.push_back(memory_.back()->data());
  }
  reset();
}

void RangeOptimizer::judge(const void* gradients) {
  optimizer_->judge(tower_.stream(), static_cast<const std::byte*>(gradients) + first_byte(),
                    tower_.state());
}

void RangeOptimizer::launch(void* variables, const void* gradients, const void* decaying) {
  optimizer_->launch(
      tower_.stream(),
      {.variables = static_cast<std::byte*>(variables) + first_byte(),
       .gradients = static_cast<const std::byte*>(gradients) + first_byte(),
       .decaying =
           decaying == nullptr ? nullptr : static_cast<const std::byte*>(decaying) + first_byte(),
       .slots = slots_,
       .copies = tower_.executor().copies().data},
      tower_.state());
}

void RangeOptimizer::launch(void* variables, const void* gradients,
                            std::span<const SparseGradient> sparse) {
  optimizer_->launch(tower_.stream(),
                     {.variables = variables,
                      .gradients = gradients,
                      .slots = slots_,
                      .sparse = sparse,
                      .copies = tower_.executor().copies().data},
                     tower_.state());
}

void RangeOptimizer::reset() { optimizer_->reset(tower_.stream(), slots_, tower_.state()); }

std::vector<StateRegion> RangeOptimizer::state_regions() const {
  std::vector<StateRegion> regions;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    regions.push_back(
        {.name = fmt::format("optimizer/{}", slot), .range = range_, .data = slots_[slot]});
  }
  return regions;
}

RegionRange whole_range(const Executor& executor) {
  return whole_region(executor.segments(), 1).front();
}

}  // namespace bench

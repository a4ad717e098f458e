#include <algorithm>
#include <iterator>
#include <optional>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/nccl_collective.h"
#include "variable_mgmt/gradients/sparse_gradients.h"
#include "variable_mgmt/strategies/late_gradients.h"
#include "variable_mgmt/strategies/own_strategies.h"
#include "variable_mgmt/strategies/range_optimizer.h"

namespace bench {
namespace {

/// Every tower has its own variables and slots. All make the same update, with the sum of all
/// towers' gradients.
class Replicated final : public UpdateStrategy {
 public:
  Replicated(const TowerContext& context, const StrategySettings& settings)
      : tower_(context.tower),
        sums_(context.tower, *context.communicator.collective, context.number, settings.sums),
        optimizer_(context.tower, settings.optimizer, whole_range(context.tower.executor())),
        sparse_(context.tower, context.communicator.barrier, context.communicator.sparse,
                context.number),
        automatic_(settings.optimizer.loss_scale.automatic) {
    check(!sparse_.any() || (!settings.relaxed && !settings.remote && !automatic_),
          "replicated: the gradients cannot be sparse");
    if (settings.relaxed) {
      late_.emplace(tower_);
    }
  }
  ~Replicated() override { finish(tower_.stream()); }
  Replicated(const Replicated&) = delete;
  Replicated& operator=(const Replicated&) = delete;

  void begin_step() override { sums_.begin_step(); }

  void update() override {
    const TensorView gradients = tower_.executor().gradients();
    const auto begin = std::chrono::steady_clock::now();
    sums_.finish_step();
    const std::span<const SparseGradient> sparse =
        sparse_.any() ? sparse_.gather() : std::span<const SparseGradient>();
    exchanged_ = std::chrono::steady_clock::now() - begin;
    if (automatic_) {
      optimizer_.judge(gradients.data);
    }
    void* const variables = tower_.executor().variables().data;
    if (late_) {
      late_->note_variables();
      optimizer_.launch(variables, late_->gradients(), late_->variables());
      late_->renew();
    } else {
      optimizer_.launch(variables, gradients.data, sparse);
    }
    if (sparse_.any()) {
      const auto updated = std::chrono::steady_clock::now();
      sparse_.release();
      exchanged_ += std::chrono::steady_clock::now() - updated;
    }
    tower_.fetch_state();
  }

  void watch() override { sums_.watch(); }
  void abandon() noexcept override { sums_.abandon(); }

  [[nodiscard]] std::chrono::nanoseconds exchanged() const override { return exchanged_; }
  [[nodiscard]] const SumTimes* sum_times() const override { return &sums_.times(); }
  [[nodiscard]] std::string_view reduced_on() const override {
    return sums_.is_enqueued() ? "nccl" : "host";
  }
  [[nodiscard]] std::string why_not_recorded() const override {
    return sums_.is_enqueued() ? "" : kReducedOnTheHost;
  }

  void reset() override {
    optimizer_.reset();
    if (late_) {
      late_->forget();
    }
  }
  [[nodiscard]] std::vector<StateRegion> state_regions() override {
    std::vector<StateRegion> regions = optimizer_.state_regions();
    if (late_) {
      std::ranges::move(late_->state_regions(whole_range(tower_.executor())),
                        std::back_inserter(regions));
    }
    return regions;
  }

 private:
  Tower& tower_;
  GradientSums sums_;
  RangeOptimizer optimizer_;
  SparseGradients sparse_;
  std::chrono::nanoseconds exchanged_{};
  bool automatic_;
  /// Used if the sums of the previous step are applied.
  std::optional<LateGradients> late_;
};

/// The size of the copies in 16 bits, if there are any.
std::size_t narrow_bytes(std::span<const OptimizerSegment> segments,
                         const StrategySettings& settings) {
  std::size_t bytes = 0;
  if (settings.sums.narrow) {
    for (const SumPiece& piece : sum_pieces(segments, settings.optimizer.dtype, settings.sums)) {
      bytes += NarrowGradients::bytes(piece.bytes);
    }
  }
  return bytes;
}

}  // namespace

std::unique_ptr<UpdateStrategy> make_replicated(const TowerContext& context,
                                                const StrategySettings& settings) {
  // NCCL on one device adds nothing, but lets a user try it.
  return context.communicator.barrier.size() == 1 && !settings.relaxed &&
                 !context.communicator.by_nccl && !context.communicator.is_remote()
             ? make_independent(context, settings)
             : std::make_unique<Replicated>(context, settings);
}

std::vector<StrategyMemory> replicated_memory(std::span<const OptimizerSegment> segments,
                                              int towers, const StrategySettings& settings) {
  const std::size_t elements = end_of(dense_segments(segments));
  std::vector<StrategyMemory> memory = independent_memory(segments, towers, settings);
  for (StrategyMemory& each : memory) {
    each.computing += settings.relaxed ? late_gradients_bytes(elements, settings) : 0;
    each.computing += narrow_bytes(segments, settings);
    // The gradients that the host adds.
    each.communicator =
        (towers > 1 || settings.remote) && !adds_by_nccl(settings.sums.spec)
            ? elements * size_of(settings.sums.narrow.value_or(settings.optimizer.dtype))
            : 0;
  }
  return memory;
}

}  // namespace bench

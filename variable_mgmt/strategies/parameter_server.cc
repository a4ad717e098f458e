#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "models/base/errors.h"
#include "variable_mgmt/servers/server_link.h"
#include "variable_mgmt/strategies/late_gradients.h"
#include "variable_mgmt/strategies/own_strategies.h"
#include "variable_mgmt/strategies/range_optimizer.h"

namespace bench {
namespace {

std::vector<RegionRange> parts_of(std::span<const OptimizerSegment> segments, int towers,
                                  const StrategySettings& settings) {
  // With server processes, the first tower exchanges gradients and variables for all.
  return settings.one_holder || settings.served ? whole_region(segments, towers)
                                                : divide_region(segments, towers);
}

std::vector<RegionRange> parts_of(const TowerContext& context, const StrategySettings& settings) {
  return parts_of(context.tower.executor().segments(), context.communicator.barrier.size(),
                  settings);
}

/// Every variable has one holder, which adds the towers' gradients and updates it. Then all towers
/// receive its value. If there are server processes, the holder sends the sum there instead, and
/// receives the new value.
class ParameterServer final : public UpdateStrategy {
 public:
  ParameterServer(const TowerContext& context, const StrategySettings& settings)
      : tower_(context.tower),
        barrier_(context.communicator.barrier),
        gradients_(context.communicator.barrier, context.communicator.gradients, context.number,
                   context.tower, context.tower.executor().gradients(), settings.optimizer.dtype,
                   parts_of(context, settings)),
        variables_(context.communicator.barrier, context.communicator.variables, context.number,
                   context.tower, context.tower.executor().variables(), settings.optimizer.dtype,
                   parts_of(context, settings)),
        votes_(context.communicator.votes),
        number_(static_cast<std::size_t>(context.number)),
        automatic_(settings.optimizer.loss_scale.automatic) {
    check(!SparseGradients(tower_).any(), "parameter server: the gradients cannot be sparse");
    gradients_.prepare_to_add();
    if (settings.served) {
      check(!settings.staged && !automatic_, "parameter server: not built for several processes");
      if (context.number == 0) {
        connect(context, settings);
      }
      return;
    }
    optimizer_.emplace(context.tower, settings.optimizer, gradients_.own());
    if (settings.staged) {
      held_ = tower_.backend().allocate(tower_.executor().variables().bytes);
      late_.emplace(tower_);
      hold();
    }
  }
  ~ParameterServer() override { finish(tower_.stream()); }
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  void update() override {
    const TensorView variables = tower_.executor().variables();
    const TensorView gradients = tower_.executor().gradients();
    const auto begin = std::chrono::steady_clock::now();
    gradients_.reduce_to_owners();
    if (automatic_) {
      judge_together(gradients.data);
    }
    exchanged_ = std::chrono::steady_clock::now() - begin;
    if (servers_) {
      exchange(gradients, variables);
      exchanged_ = std::chrono::steady_clock::now() - begin;
    } else if (held_ == nullptr) {
      if (optimizer_) {
        optimizer_->launch(variables.data, gradients.data);
      }
    } else {
      // The towers compute next with the variables that were held before this update.
      late_->note_variables();
      tower_.stream().copy(held_->data(), variables.data, variables.bytes);
      optimizer_->launch(held_->data(), late_->gradients(), late_->variables());
      late_->renew();
    }
    const auto updated = std::chrono::steady_clock::now();
    variables_.spread_from_owners();
    exchanged_ += std::chrono::steady_clock::now() - updated;
    tower_.executor().renew_copies();
    tower_.fetch_state();
  }

  [[nodiscard]] std::chrono::nanoseconds exchanged() const override { return exchanged_; }
  [[nodiscard]] std::optional<ServerReply> reply() const override {
    return servers_ ? std::optional(servers_->reply()) : std::nullopt;
  }
  [[nodiscard]] std::string_view reduced_on() const override {
    return gradients_.by_peers() ? "devices" : "host";
  }
  [[nodiscard]] std::string why_not_recorded() const override {
    return gradients_.by_peers() ? kReducedBetweenCopies : kReducedOnTheHost;
  }

  void reset() override {
    if (servers_) {
      tower_.wait();
      servers_->set_variables(bytes_of(tower_.executor().variables()));
    }
    if (optimizer_) {
      optimizer_->reset();
    }
    if (held_ != nullptr) {
      late_->forget();
      hold();
    }
  }
  [[nodiscard]] std::vector<StateRegion> state_regions() override {
    check(!servers_, "parameter server: other processes have the state");
    std::vector<StateRegion> regions =
        optimizer_ ? optimizer_->state_regions() : std::vector<StateRegion>();
    if (held_ != nullptr) {
      const RegionRange own = gradients_.own();
      std::ranges::move(late_->state_regions(own), std::back_inserter(regions));
      const std::size_t begin = own.first * size_of(tower_.executor().trained_dtype());
      regions.push_back(
          {.name = std::string(kHeldVariables), .range = own, .data = held_->data() + begin});
    }
    return regions;
  }

 private:
  /// Copies the tower's variables into the held ones.
  void hold() {
    const TensorView variables = tower_.executor().variables();
    tower_.stream().copy(variables.data, held_->data(), variables.bytes);
  }

  static std::byte* bytes_of(const TensorView& region) {
    return static_cast<std::byte*>(region.data);
  }

  void connect(const TowerContext& context, const StrategySettings& settings) {
    check(tower_.backend().shares_host_memory(),
          "parameter server: the device has separate memory");
    servers_.emplace(*context.communicator.world, tower_.executor().segments(),
                     size_of(settings.optimizer.dtype));
    tower_.wait();
    servers_->set_variables(bytes_of(tower_.executor().variables()));
  }

  void exchange(const TensorView& gradients, const TensorView& variables) {
    tower_.fetch_state();
    tower_.wait();
    const StepState& state = tower_.seen_state();
    servers_->exchange(state.parameters, state.loss_scale, bytes_of(gradients),
                       bytes_of(variables));
  }

  /// Each holder checks its part of the gradients; they agree on one decision to update or skip.
  void judge_together(const void* gradients) {
    optimizer_->judge(gradients);
    tower_.fetch_state();
    tower_.wait();
    votes_[number_] = tower_.seen_state().finite;
    barrier_.arrive();
    std::int32_t all = 1;
    for (const std::int32_t vote : votes_) {
      all = vote == 0 ? 0 : all;
    }
    barrier_.arrive();
    tower_.set_finite(all);
  }

  Tower& tower_;
  Barrier& barrier_;
  SharedRegion gradients_;
  SharedRegion variables_;
  std::vector<std::int32_t>& votes_;
  const std::size_t number_;
  /// Unset if server processes update the variables.
  std::optional<RangeOptimizer> optimizer_;
  /// Set on the first tower if there are server processes.
  std::optional<ServerLink> servers_;
  std::chrono::nanoseconds exchanged_{};
  bool automatic_;
  /// Used if the towers compute with the variables of the previous step: the variables that are
  /// updated, and the gradients of the next update.
  std::unique_ptr<DeviceMemory> held_;
  std::optional<LateGradients> late_;
};

}  // namespace

std::unique_ptr<UpdateStrategy> make_parameter_server(const TowerContext& context,
                                                      const StrategySettings& settings) {
  return context.communicator.barrier.size() == 1 && !settings.staged && !settings.served
             ? make_independent(context, settings)
             : std::make_unique<ParameterServer>(context, settings);
}

std::vector<StrategyMemory> parameter_server_memory(std::span<const OptimizerSegment> segments,
                                                    int towers, const StrategySettings& settings) {
  const std::size_t elements = end_of(segments);
  const std::size_t region = elements * size_of(settings.optimizer.dtype);
  std::vector<StrategyMemory> memory;
  if (settings.served) {
    memory.resize(static_cast<std::size_t>(towers), {.communicator = towers > 1 ? 2 * region : 0});
    // Gradients, variables, and the first variables.
    memory.front().exchange = 3 * region;
    return memory;
  }
  for (const RegionRange& part : parts_of(segments, towers, settings)) {
    // Held variables take the whole region, of which a holder uses its part.
    memory.push_back(
        {.computing = slot_bytes(settings.optimizer, part.count()) +
                      (settings.staged ? region + late_gradients_bytes(elements, settings) : 0),
         // Its gradients and its variables.
         .communicator = towers > 1 ? 2 * region : 0});
  }
  return memory;
}

}  // namespace bench

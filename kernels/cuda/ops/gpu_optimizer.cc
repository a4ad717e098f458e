#include "kernels/cuda/ops/gpu_optimizer.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/device/device_table.h"
#include "kernels/cuda/gpu/optimizer.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

std::vector<OptimizerChunk> chunks_of(const std::vector<OptimizerSegment>& segments) {
  std::vector<OptimizerChunk> chunks;
  int copies = 0;
  int number = 0;
  for (const OptimizerSegment& segment : segments) {
    const auto count = static_cast<std::int64_t>(segment.count);
    for (std::int64_t begin = 0; begin < count; begin += OptimizerChunk::kMost) {
      chunks.push_back({.begin = static_cast<std::int64_t>(segment.offset) + begin,
                        .count = static_cast<int>(std::min(OptimizerChunk::kMost, count - begin)),
                        .decayed = segment.decayed,
                        .first_copy = copies,
                        .copies = static_cast<int>(segment.copies.size()),
                        .segment = number});
    }
    ++number;
    copies += static_cast<int>(segment.copies.size());
  }
  return chunks;
}

/// The chunks of each segment, in the order of chunks_of(). Empty unless the rule needs norms.
std::vector<OptimizerChunks> segment_chunks(const OptimizerRule& rule,
                                            const std::vector<OptimizerSegment>& segments) {
  std::vector<OptimizerChunks> all;
  if (!std::holds_alternative<LarsRule>(rule)) {
    return all;
  }
  int first = 0;
  for (const OptimizerSegment& segment : segments) {
    const auto count = static_cast<std::int64_t>(segment.count);
    const auto chunks =
        static_cast<int>((count + OptimizerChunk::kMost - 1) / OptimizerChunk::kMost);
    all.push_back({.first = first, .count = chunks, .decayed = segment.decayed});
    first += chunks;
  }
  return all;
}

/// The tiles of all reordered copies, concatenated.
std::vector<std::uint32_t> tiles_of(const std::vector<OptimizerSegment>& segments) {
  std::vector<std::uint32_t> tiles;
  for (const OptimizerSegment& segment : segments) {
    for (const OptimizerSegment::Copy& copy : segment.copies) {
      tiles.insert(tiles.end(), copy.order.tiles.begin(), copy.order.tiles.end());
    }
  }
  return tiles;
}

/// The inverse of TileOrder::elements.
std::vector<std::uint16_t> places_of(const std::vector<OptimizerSegment>& segments) {
  std::vector<std::uint16_t> places;
  for (const OptimizerSegment& segment : segments) {
    for (const OptimizerSegment::Copy& copy : segment.copies) {
      const std::size_t first = places.size();
      const std::vector<std::uint16_t>& elements = copy.order.elements;
      places.resize(first + elements.size());
      for (std::size_t place = 0; place < elements.size(); ++place) {
        places[first + elements[place]] = static_cast<std::uint16_t>(place);
      }
    }
  }
  return places;
}

std::vector<OptimizerCopy> copies_of(const std::vector<OptimizerSegment>& segments,
                                     const std::uint32_t* tiles, const std::uint16_t* places) {
  std::vector<OptimizerCopy> copies;
  for (const OptimizerSegment& segment : segments) {
    for (const OptimizerSegment::Copy& copy : segment.copies) {
      check(is_half(copy.dtype), "cuda: the optimizer's copies must have 16 bits");
      OptimizerCopy& row =
          copies.emplace_back(OptimizerCopy{.segment = static_cast<std::int64_t>(segment.offset),
                                            .copy = static_cast<std::int64_t>(copy.offset),
                                            .dtype = copy.dtype});
      if (!copy.order.same()) {
        row.tiles = tiles;
        row.places = places;
        row.tile_bits = std::countr_zero(copy.order.elements.size());
        tiles += copy.order.tiles.size();
        places += copy.order.elements.size();
      }
    }
  }
  return copies;
}

class GpuOptimizer final : public Optimizer {
 public:
  GpuOptimizer(const OptimizerSettings& settings, const std::vector<OptimizerSegment>& segments)
      : settings_(settings),
        chunks_(chunks_of(segments)),
        tiles_(tiles_of(segments)),
        places_(places_of(segments)),
        copies_(copies_of(segments, tiles_.data(), places_.data())),
        segments_(segment_chunks(settings.rule, segments)),
        squares_(std::vector<float>(segments_.size() > 0 ? 2 * chunks_.size() : 0)),
        rate_factors_(std::vector<float>(segments_.size())) {
    check(row_of(settings.rule).slots() <= kMostOptimizerSlots,
          "cuda: the optimizer rule has too many slots");
  }

  void reset(Stream& stream, std::span<void* const> slots, StepState* state) override {
    OptimizerReset args{
        .tables = tables(), .slot_count = slots.size(), .slots = checked(slots), .state = state};
    const std::vector<double>& values = row_of(settings_.rule).first_values;
    std::transform(values.begin(), values.end(), args.first_values.begin(),
                   [](double value) { return static_cast<float>(value); });
    reset_optimizer(handle_of(stream), args);
  }

  void judge(Stream& stream, const void* gradients, StepState* state) override {
    judge_gradients(
        handle_of(stream),
        {.tables = tables(), .gradients = static_cast<const float*>(gradients), .state = state});
  }

  void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) override {
    check(memory.copies != nullptr || copies_.size() == 0,
          "optimizer: the memory for the copies is missing");
    OptimizerUpdate args{.tables = tables(),
                         .rule = settings_.rule,
                         .weight_decay = settings_.weight_decay,
                         .loss_scale = settings_.loss_scale,
                         .variables = static_cast<float*>(memory.variables),
                         .gradients = static_cast<const float*>(memory.gradients),
                         .decaying = static_cast<const float*>(memory.decaying),
                         .slots = checked(memory.slots),
                         .copies = memory.copies,
                         .state = state};
    if (settings_.clip) {
      args.clip = *settings_.clip;
    }
    update_variables(handle_of(stream), args);
  }

 private:
  [[nodiscard]] OptimizerTables tables() const {
    return {.chunks = chunks_.data(),
            .chunk_count = chunks_.size(),
            .copies = copies_.data(),
            .segments = segments_.data(),
            .segment_count = segments_.size(),
            .squares = squares_.data(),
            .rate_factors = rate_factors_.data()};
  }
  [[nodiscard]] OptimizerSlots checked(std::span<void* const> slots) const {
    check_slots(settings_.rule, slots.size());
    OptimizerSlots result{};
    std::transform(slots.begin(), slots.end(), result.begin(),
                   [](void* slot) { return static_cast<float*>(slot); });
    return result;
  }

  OptimizerSettings settings_;
  DeviceTable<OptimizerChunk> chunks_;
  DeviceTable<std::uint32_t> tiles_;
  DeviceTable<std::uint16_t> places_;
  DeviceTable<OptimizerCopy> copies_;
  DeviceTable<OptimizerChunks> segments_;
  DeviceTable<float> squares_;
  DeviceTable<float> rate_factors_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          // NOLINTNEXTLINE(performance-unnecessary-value-param)
                                          std::vector<OptimizerSegment> segments) {
  check(settings.dtype == DType::f32, "cuda: the optimizer updates only f32");
  return std::make_unique<GpuOptimizer>(settings, segments);
}

}  // namespace bench::cuda

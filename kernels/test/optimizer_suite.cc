#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/conformance.h"
#include "models/base/errors.h"
#include "models/base/half.h"

namespace bench {

std::ostream& operator<<(std::ostream& out, const OptimizerCase& optimizer_case) {
  return out << optimizer_case.name;
}

std::vector<OptimizerCase> optimizer_cases() {
  std::vector<OptimizerCase> cases{
      {.name = "sgd_decayed", .settings = {.rule = SgdRule{}, .weight_decay = 1e-2}},
      {.name = "sgd_clipped", .settings = {.rule = SgdRule{}, .clip = 0.5}},
      {.name = "momentum_all",
       .settings = {.rule = MomentumRule{.momentum = 0.8}, .weight_decay = 1e-2, .clip = 0.75},
       .gradient_scale = 0.125},
      {.name = "rmsprop_decayed", .settings = {.rule = RmspropRule{}, .weight_decay = 1e-2}},
      {.name = "rmsprop_all",
       .settings = {.rule = RmspropRule{.decay = 0.8, .momentum = 0.7, .epsilon = 1e-3},
                    .weight_decay = 1e-2,
                    .clip = 0.75},
       .gradient_scale = 0.125},
      // If decay and gradient cancel, a small epsilon would amplify their rounding.
      {.name = "adam_decayed",
       .settings = {.rule = AdamRule{.epsilon = 1e-3}, .weight_decay = 1e-2}},
      {.name = "adam_all",
       .settings = {.rule = AdamRule{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3},
                    .weight_decay = 1e-2,
                    .clip = 0.75},
       .gradient_scale = 0.125},
      {.name = "lars_all",
       .settings = {.rule = LarsRule{.trust_coefficient = 0.5, .momentum = 0.8, .epsilon = 0.25},
                    .weight_decay = 1e-2,
                    .clip = 0.75},
       .gradient_scale = 0.125},
  };
  for (const OptimizerRow& row : all_optimizers()) {
    cases.push_back({.name = std::string(row.name), .settings = {.rule = row.rule}});
  }
  return cases;
}

namespace {

/// In a device's memory.
template <class T>
class DeviceNumbers {
 public:
  DeviceNumbers(Backend& backend, Stream& stream, const std::vector<T>& values)
      : stream_(stream),
        count_(values.size()),
        memory_(backend.allocate(values.size() * sizeof(T))) {
    write(values);
  }
  void write(const std::vector<T>& values) {
    stream_.upload(std::as_bytes(std::span(values)), memory_->data());
    stream_.synchronize();
  }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    stream_.download(memory_->data(), std::as_writable_bytes(std::span(values)));
    stream_.synchronize();
    return values;
  }
  [[nodiscard]] void* data() const { return memory_->data(); }

 private:
  Stream& stream_;
  std::size_t count_;
  std::unique_ptr<DeviceMemory> memory_;
};

/// An optimizer with variables, gradients, copies and slots. They hold `nobodys` where it does not
/// write.
class OptimizerRun {
 public:
  OptimizerRun(Backend& backend, const OptimizerSettings& settings,
               std::vector<OptimizerSegment> segments, const std::vector<float>& variables,
               float nobodys)
      : stream_(backend.make_stream()),
        optimizer_(backend.make_optimizer(settings, std::move(segments))),
        variables_(backend, *stream_, variables),
        gradients_(backend, *stream_, variables),
        decaying_(backend, *stream_, variables),
        copies_(backend, *stream_, std::vector<std::uint16_t>(variables.size(), kNoCopy)),
        state_(backend.allocate(sizeof(StepState))) {
    for (std::size_t slot = 0; slot < row_of(settings.rule).slots(); ++slot) {
      slots_.emplace_back(backend, *stream_, std::vector<float>(variables.size(), nobodys));
      places_.push_back(slots_.back().data());
    }
    write({.updates = 7});
    optimizer_->reset(*stream_, places_, device_state());
  }
  /// Without `decaying`, the decay uses the updated variables.
  void update(const std::vector<float>& gradients, const StepParameters& parameters,
              const std::vector<float>* decaying = nullptr) {
    StepState state = read();
    state.parameters = parameters;
    write(state);
    gradients_.write(gradients);
    if (decaying != nullptr) {
      decaying_.write(*decaying);
    }
    optimizer_->launch(*stream_,
                       {.variables = variables_.data(),
                        .gradients = gradients_.data(),
                        .decaying = decaying == nullptr ? nullptr : decaying_.data(),
                        .slots = places_,
                        .copies = copies_.data()},
                       device_state());
  }
  /// Returns true if the gradients are judged finite.
  bool judge(const std::vector<float>& gradients) {
    gradients_.write(gradients);
    optimizer_->judge(*stream_, gradients_.data(), device_state());
    return read().finite != 0;
  }
  [[nodiscard]] StepState read() const {
    StepState state;
    stream_->download(state_->data(), std::as_writable_bytes(std::span(&state, 1)));
    stream_->synchronize();
    return state;
  }
  void write(const StepState& state) {
    stream_->upload(std::as_bytes(std::span(&state, 1)), state_->data());
    stream_->synchronize();
  }
  [[nodiscard]] std::vector<float> variables() const { return variables_.read(); }
  /// Elements that were not written hold kNoCopy.
  [[nodiscard]] std::vector<std::uint16_t> copies() const { return copies_.read(); }
  static constexpr std::uint16_t kNoCopy = 0x1234;
  [[nodiscard]] std::vector<std::vector<float>> slots() const {
    std::vector<std::vector<float>> values;
    std::transform(slots_.begin(), slots_.end(), std::back_inserter(values),
                   [](const DeviceNumbers<float>& slot) { return slot.read(); });
    return values;
  }

 private:
  StepState* device_state() { return reinterpret_cast<StepState*>(state_->data()); }

  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Optimizer> optimizer_;
  DeviceNumbers<float> variables_;
  DeviceNumbers<float> gradients_;
  DeviceNumbers<float> decaying_;
  DeviceNumbers<std::uint16_t> copies_;
  std::vector<DeviceNumbers<float>> slots_;
  std::vector<void*> places_;
  std::unique_ptr<DeviceMemory> state_;
};

/// Tiles and their elements in a random order.
TileOrder drawn_order(std::size_t tiles, std::size_t elements, RandomStream& random) {
  TileOrder order;
  order.tiles.resize(tiles);
  std::iota(order.tiles.begin(), order.tiles.end(), 0);
  order.elements.resize(elements);
  std::iota(order.elements.begin(), order.elements.end(), 0);
  shuffle(order.tiles, random);
  shuffle(order.elements, random);
  return order;
}

/// Joins each pair of rows, element by element, or pairs of columns over all rows of a pair.
TileOrder joined_rows(std::size_t tiles, std::size_t row, RandomStream& random) {
  TileOrder order = drawn_order(tiles, 16 * row, random);
  for (std::size_t i = 0; i < order.elements.size(); ++i) {
    order.elements[i] =
        static_cast<std::uint16_t>((i / (2 * row) * 2 + i % 2) * row + i % (2 * row) / 2);
  }
  return order;
}
TileOrder paired_columns(std::size_t tiles, RandomStream& random) {
  TileOrder order = drawn_order(tiles, 256, random);
  for (std::size_t i = 0; i < order.elements.size(); ++i) {
    order.elements[i] = static_cast<std::uint16_t>(i % 32 / 2 * 16 + i / 32 * 2 + i % 2);
  }
  return order;
}

}  // namespace

TEST_P(OptimizerConformance, MatchesTheReferenceOverSeveralSteps) {
  SCOPED_TRACE(how_to_repeat());
  const auto& [under_test, optimizer_case] = GetParam();
  Backend& device = backend(under_test);
  const auto oracle = make_reference_backend();
  // Gaps between segments stay unchanged.
  const std::vector<OptimizerSegment> segments{{.offset = 0, .count = 37, .decayed = true},
                                               {.offset = 48, .count = 1, .decayed = false},
                                               {.offset = 64, .count = 1000, .decayed = true},
                                               {.offset = 1072, .count = 5, .decayed = false},
                                               // More than one chunk on a GPU.
                                               {.offset = 1088, .count = 9001, .decayed = true},
                                               {.offset = 10096, .count = 3, .decayed = true}};
  constexpr std::size_t kElements = 10112;
  RandomStream random(test_seed(), hash_name(optimizer_case.name));
  const auto draw_floats = [&] {
    const auto values = draw({}, kElements, random);
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> initial = draw_floats();
  constexpr float kNobodys = -7;
  const auto start = [&](Backend& on) {
    OptimizerSettings settings = optimizer_case.settings;
    settings.loss_scale = {.automatic = true, .increase_every = 1};
    return OptimizerRun(on, settings, segments, initial, kNobodys);
  };
  OptimizerRun expected = start(*oracle);
  OptimizerRun actual = start(device);
  for (OptimizerRun* run : {&expected, &actual}) {
    StepState state = run->read();
    state.set_loss_scale(8);
    run->write(state);
  }
  EXPECT_EQ(actual.slots(), expected.slots());
  constexpr std::int64_t kSteps = 4;
  // In the last update the gradients were computed with other variables.
  const std::vector<float> others = draw_floats();
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    const auto gradients = draw_floats();
    for (OptimizerRun* run : {&expected, &actual}) {
      run->update(gradients,
                  {.learning_rate = 0.0625 / static_cast<double>(step),
                   .gradient_scale = optimizer_case.gradient_scale},
                  step == kSteps ? &others : nullptr);
    }
  }
  const auto expect_near = [](const std::vector<float>& given, const std::vector<float>& right,
                              const std::string& what) {
    constexpr float kTolerance = 32 * std::numeric_limits<float>::epsilon();
    for (std::size_t i = 0; i < kElements; ++i) {
      EXPECT_NEAR(given[i], right[i], kTolerance * (1 + std::abs(right[i]))) << what << i;
    }
  };
  const std::vector<float> variables = actual.variables();
  expect_near(variables, expected.variables(), "variable ");
  const auto slots = actual.slots();
  const auto expected_slots = expected.slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    expect_near(slots[slot], expected_slots[slot], fmt::format("slot {}, element ", slot));
    EXPECT_EQ(slots[slot][48 + 1], kNobodys);
  }
  const StepState state = actual.read();
  EXPECT_EQ(state.updates, kSteps);
  // It doubled twice in four steps.
  EXPECT_EQ(state.loss_scale, 32);
  EXPECT_EQ(state.narrow_loss_scale, 32);
  EXPECT_EQ(state.good_steps, expected.read().good_steps);
  for (const std::size_t gap : {37U, 47U, 49U, 1064U, 1077U}) {
    EXPECT_EQ(variables[gap], initial[gap]) << "element " << gap << " is in no segment";
  }
}

TEST_P(OptimizerConformance, RenewsTheCopiesWithTheVariables) {
  SCOPED_TRACE(how_to_repeat());
  const auto& [under_test, optimizer_case] = GetParam();
  RandomStream random(test_seed(), hash_name(optimizer_case.name));
  const std::vector<OptimizerSegment> segments{
      {.offset = 0, .count = 37, .copies = {{.offset = 16, .dtype = DType::bf16}}},
      {.offset = 48, .count = 100},
      {.offset = 160,
       .count = 3000,
       .decayed = false,
       .copies = {{.offset = 64, .dtype = DType::f16}}},
      {.offset = 3168,
       .count = 12 * 1024,
       .copies = {{.offset = 3072, .order = joined_rows(48, 16, random)},
                  {.offset = 15360, .order = paired_columns(48, random)},
                  {.offset = 27648, .order = drawn_order(384, 32, random)},
                  {.offset = 39936, .dtype = DType::f16, .order = joined_rows(12, 64, random)}}}};
  constexpr std::size_t kElements = 53248;
  const auto draw_floats = [&] {
    const auto values = draw({}, kElements, random);
    return std::vector<float>(values.begin(), values.end());
  };
  OptimizerSettings settings = optimizer_case.settings;
  settings.loss_scale.automatic = true;
  OptimizerRun run(backend(under_test), settings, segments, draw_floats(), 0);
  for (int step = 0; step < 2; ++step) {
    run.update(draw_floats(), {.learning_rate = 0.0625});
    const std::vector<float> variables = run.variables();
    std::vector<std::uint16_t> rounded(kElements, OptimizerRun::kNoCopy);
    for (const OptimizerSegment& segment : segments) {
      for (const OptimizerSegment::Copy& copy : segment.copies) {
        const auto& [tiles, elements] = copy.order;
        const std::size_t tile = elements.empty() ? 1 : elements.size();
        for (std::size_t i = 0; i < segment.count; ++i) {
          const std::size_t t = i / tile;
          const std::size_t from = elements.empty() ? i : t * tile + elements[i % tile];
          const std::size_t to = elements.empty() ? i : tiles[t] * tile + i % tile;
          const float w = variables[segment.offset + from];
          rounded[copy.offset + to] =
              copy.dtype == DType::bf16 ? narrow_to_bfloat16(w).bits : narrow_to_float16(w).bits;
        }
      }
    }
    EXPECT_TRUE(run.copies() == rounded) << "step " << step;
  }
  const std::vector<std::uint16_t> copies = run.copies();
  const std::vector<float> lost(kElements, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(run.judge(lost));
  run.update(lost, {.learning_rate = 1});
  EXPECT_TRUE(run.copies() == copies);
}

TEST_P(OptimizerConformance, SeesAGradientThatIsNotFinite) {
  const auto& [under_test, optimizer_case] = GetParam();
  OptimizerRun run(backend(under_test), optimizer_case.settings,
                   {{.offset = 0, .count = 37, .decayed = true},
                    {.offset = 48, .count = 1000, .decayed = false}},
                   std::vector<float>(1048), 0);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> gradients(1048, 0.5F);
  // Memory between the segments belongs to no variable.
  gradients[40] = kNaN;
  EXPECT_TRUE(run.judge(gradients));
  for (const float lost : {kInfinity, -kInfinity, kNaN}) {
    for (const std::size_t place : {0U, 36U, 48U, 1047U}) {
      auto spoiled = gradients;
      spoiled[place] = lost;
      EXPECT_FALSE(run.judge(spoiled)) << lost << " at " << place;
    }
  }
}

TEST_P(OptimizerConformance, SkipsAnUpdateWithAGradientThatIsNotFinite) {
  const auto& [under_test, optimizer_case] = GetParam();
  OptimizerSettings settings = optimizer_case.settings;
  settings.loss_scale.automatic = true;
  const std::vector<float> variables(8, 0.5F);
  OptimizerRun run(backend(under_test), settings, {{.offset = 0, .count = 8}}, variables, 0);
  StepState state = run.read();
  state.set_loss_scale(8);
  run.write(state);
  const auto slots = run.slots();
  const std::vector<float> lost(8, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(run.judge(lost));
  run.update(lost, {.learning_rate = 1});
  EXPECT_EQ(run.variables(), variables);
  EXPECT_EQ(run.slots(), slots);
  EXPECT_EQ(run.read().loss_scale, 4);
  EXPECT_EQ(run.read().skipped, 1);
  const std::vector<float> gradients(8, 0.25F);
  EXPECT_TRUE(run.judge(gradients));
  run.update(gradients, {.learning_rate = 1});
  EXPECT_NE(run.variables(), variables);
  EXPECT_EQ(run.read().updates, 1);
}

}  // namespace bench

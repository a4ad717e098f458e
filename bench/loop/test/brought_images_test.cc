// Tests the transfer of batches to devices with separate memory: constant images once, others in
// every step. The results have the same bits as those of the same run in host memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "bench/loop/session.h"
#include "bench/loop/test/residual.h"
#include "bench/loop/test/several_towers.h"
#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "models/base/tensor_file.h"
#include "pipeline/test/support.h"
#include "results/environment/clock.h"

namespace bench {
namespace {

constexpr std::int64_t kSide = 32;  // of CIFAR-10's images
constexpr std::size_t kImage = 3 * kSide * kSide;

/// The results of a run.
struct Outcome {
  std::vector<double> losses;
  /// The weights of each tower.
  std::vector<std::vector<float>> weights;
  bool operator==(const Outcome&) const = default;
};

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

Outcome run(const RunSettings& settings, const MakeBackend& make_backend,
            std::size_t* uploaded = nullptr) {
  // Destroyed after the towers, which may compute on it.
  std::unique_ptr<InputSource> input;
  std::vector<const Backend*> devices(static_cast<std::size_t>(settings.workload.towers));
  SeveralTowers towers(
      settings,
      [&](int tower) {
        auto device = make_backend();
        devices[static_cast<std::size_t>(tower)] = device.get();
        return device;
      },
      initial_values(build_run_network(settings.workload, settings.workload.batch), 1));
  input = make_run_input(settings, (*towers).first().executor().input_layout("images"));
  const SteadyClock clock;
  StoppingRule stopping(step_limits(settings.execution), clock, [] { return false; });
  std::ostringstream out;
  SessionResult result;
  run_session(settings,
              {.towers = *towers,
               .input = *input,
               .clock = clock,
               .stopping = stopping,
               .out = out,
               .progress = out},
              result);
  const bool far = !(*towers).first().backend().shares_host_memory();
  EXPECT_EQ(result.device_steps.size(), far ? result.steps.size() : 0U);
  for (std::size_t i = 0; i < result.device_steps.size(); ++i) {
    EXPECT_GT(result.device_steps[i].count(), 0) << "step " << i;
    EXPECT_LE(result.device_steps[i], result.steps[i]) << "step " << i;
  }
  Outcome outcome{.losses = result.losses,
                  .weights = std::vector<std::vector<float>>(devices.size())};
  (*towers).run([&](int tower) {
    outcome.weights[static_cast<std::size_t>(tower)] =
        (*towers)[tower].executor().read_variable("conv.weight");
  });
  if (uploaded != nullptr) {
    *uploaded = std::accumulate(
        devices.begin(), devices.end(), std::size_t{0},
        [](std::size_t sum, const Backend* device) { return sum + uploaded_to(*device); });
  }
  return outcome;
}

MakeBackend far_away(const FarSchedule& schedule = {}) {
  return [schedule] { return make_far_backend(make_reference_backend(), schedule); };
}

/// A run whose towers do not communicate, so steps transfer only batches and step parameters.
RunSettings settings_of(int towers) {
  RunSettings settings = residual();
  settings.workload.image_size = kSide;
  settings.workload.towers = towers;
  settings.workload.strategy = &find_strategy(towers == 1 ? "parameter_server" : "independent");
  settings.workload.learning_rate.request.init_learning_rate = 1e-5;
  return settings;
}

/// The bytes of images that a step transfers to all devices, from the difference between two runs.
std::size_t image_bytes_per_step(RunSettings settings) {
  constexpr int kFewer = 3;
  constexpr int kMore = 8;
  const auto uploaded = [&](int steps) {
    settings.execution.steps.num_batches = steps;
    std::size_t bytes = 0;
    run(settings, far_away(), &bytes);
    return bytes;
  };
  const std::size_t bytes = uploaded(kMore) - uploaded(kFewer);
  const auto labels = static_cast<std::size_t>(settings.workload.batch) * sizeof(std::int32_t);
  const std::size_t rest =
      static_cast<std::size_t>(settings.workload.towers) * (labels + sizeof(StepParameters));
  EXPECT_EQ(bytes % (kMore - kFewer), 0U);
  return bytes / (kMore - kFewer) - rest;
}

/// The bytes of one step's images of all towers, in f32.
std::size_t float_bytes(const Workload& workload) {
  return static_cast<std::size_t>(workload.global_batch()) * kImage * sizeof(float);
}

void expect_near_and_far_alike(const RunSettings& settings) {
  const Outcome near = run(settings, [] { return make_reference_backend(); });
  EXPECT_NE(near.losses.front(), near.losses.back());
  for (const FarSchedule& schedule : far_schedules(24)) {
    EXPECT_EQ(run(settings, far_away(schedule)), near) << "seed " << schedule.seed;
  }
}

/// Every image is different, and every batch has different labels.
void write_batches(const std::string& path, std::int64_t images) {
  std::vector<float> values(static_cast<std::size_t>(images) * kImage);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 241 + i / kImage * 7 % 13);
  }
  std::vector<std::int64_t> labels(static_cast<std::size_t>(images));
  std::iota(labels.begin(), labels.end(), 0);
  std::transform(labels.begin(), labels.end(), labels.begin(),
                 [](auto label) { return label % 5; });
  const std::vector<TensorToWrite> tensors = {
      {"images", StoredType::f32, {images, 3, kSide, kSide}, std::as_bytes(std::span(values))},
      {"labels", StoredType::i64, {images}, std::as_bytes(std::span(labels))}};
  write_tensor_file(AtomicFile(path), tensors, {});
}

/// CIFAR-10 in a folder.
DatasetOptions write_dataset(const test::TemporaryFolder& folder) {
  constexpr int kRecords = 12;
  std::string records;
  for (int i = 0; i < kRecords; ++i) {
    records.push_back(static_cast<char>(i % 5));
    for (std::size_t k = 0; k < kImage; ++k) {
      records.push_back(static_cast<char>((static_cast<std::size_t>(i) * 31 + k * 7) % 256));
    }
  }
  test::write_file(folder.file("data_batch_1.bin"), records);
  return {.data_dir = folder.path()};
}

TEST(BroughtImages, AreCopiedOnceIfSynthetic) {
  for (const int towers : {1, 2}) {
    const RunSettings settings = settings_of(towers);
    EXPECT_EQ(image_bytes_per_step(settings), 0U) << towers;
    expect_near_and_far_alike(settings);
  }
}

TEST(BroughtImages, AreCopiedOnceIfSyntheticInInference) {
  RunSettings settings = settings_of(1);
  settings.workload.mode = RunMode::forward_only;
  EXPECT_EQ(image_bytes_per_step(settings), 0U);
}

TEST(BroughtImages, AreCopiedPerStepFromAFileOfSeveralBatches) {
  const test::TemporaryFolder folder;
  for (const int towers : {1, 2}) {
    RunSettings settings = settings_of(towers);
    settings.workload.input.file = folder.file("several.safetensors");
    write_batches(*settings.workload.input.file, 3 * settings.workload.global_batch());
    EXPECT_EQ(image_bytes_per_step(settings), float_bytes(settings.workload)) << towers;
    expect_near_and_far_alike(settings);
  }
}

TEST(BroughtImages, AreCopiedOnceFromAFileOfOneBatch) {
  const test::TemporaryFolder folder;
  RunSettings settings = settings_of(1);
  settings.workload.input.file = folder.file("one.safetensors");
  write_batches(*settings.workload.input.file, settings.workload.batch);
  EXPECT_EQ(image_bytes_per_step(settings), 0U);
  expect_near_and_far_alike(settings);
}

TEST(BroughtImages, AreCopiedPerStepFromADataset) {
  const test::TemporaryFolder folder;
  for (const int towers : {1, 2}) {
    for (const SlotType type : {SlotType::f32, SlotType::u8}) {
      RunSettings settings = settings_of(towers);
      settings.workload.input.dataset = write_dataset(folder);
      settings.execution.slots = type;
      const std::size_t floats = float_bytes(settings.workload);
      EXPECT_EQ(image_bytes_per_step(settings),
                type == SlotType::u8 ? floats / sizeof(float) : floats)
          << towers;
      expect_near_and_far_alike(settings);
    }
  }
}

}  // namespace
}  // namespace bench

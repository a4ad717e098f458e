#include "bench/plan/memory_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A run that needs 10 MiB plus 1 MiB per image.
struct Need {
  std::vector<std::int64_t> asked = {};

  static std::size_t bytes(std::int64_t batch) {
    return (10 + static_cast<std::size_t>(batch)) * kMiB;
  }
  static MemoryNeed on_the_host(std::int64_t batch) { return {.host = bytes(batch)}; }
  std::string refusal(std::int64_t batch, const Captured<MemoryLimit>& limit) {
    return refusal(batch, MemoryLimits{.host = limit});
  }
  std::string refusal(std::int64_t batch, const MemoryLimits& limits) {
    RunSettings settings;
    settings.workload.model = find_model("lenet");
    settings.workload.dataset = &dataset_named("imagenet");
    settings.workload.image_size = settings.workload.model->image_size;
    settings.workload.batch = batch;
    PlannedMemory memory;
    memory.executor.activations = bytes(batch);
    const auto ask = [this, &limits](std::int64_t other) {
      asked.push_back(other);
      PlannedMemory planned;
      planned.executor.activations = bytes(other);
      return limits.need_of(planned);
    };
    return usage_error([&] { check_memory(settings.workload, memory, limits, ask); });
  }
};

MemoryLimit limit_of(std::size_t mib) {
  return {.bytes = static_cast<std::int64_t>(mib * kMiB), .set_by = "/cg/memory.max"};
}

RunSettings lenet(const std::vector<std::string_view>& more = {}) {
  std::vector<std::string_view> arguments{"--model=lenet", "--device=reference"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return resolve_settings(parse(arguments));
}

TEST(MemoryCheck, NamesNeedLimitAndTheLargestBatchThatFits) {
  Need need;
  const std::string message = need.refusal(1024, limit_of(512));
  EXPECT_THAT(message, StartsWith("--batch_size=1024 needs 1.0 GiB (activations 1.0 GiB, "));
  EXPECT_THAT(message, HasSubstr("), but only 512.0 MiB is available (/cg/memory.max); "));
  EXPECT_THAT(message, EndsWith("the largest batch that fits is 502"));
}

TEST(MemoryCheck, FindsTheLargestBatchForAnyLimitInFewPlans) {
  for (const std::int64_t fits : {1, 2, 3, 31, 32, 33, 97, 98, 99}) {
    Need need;
    const std::string message = need.refusal(100, limit_of(static_cast<std::size_t>(10 + fits)));
    EXPECT_THAT(message, EndsWith(fmt::format("the largest batch that fits is {}", fits)));
    EXPECT_LE(need.asked.size(), 7U);
    EXPECT_EQ(std::count(need.asked.begin(), need.asked.end(), 100), 0);
  }
}

TEST(LargestBatch, ReportsItsMemoryAndStaysBelowTheBound) {
  RunSettings settings;
  settings.workload.dataset = &dataset_named("imagenet");
  settings.workload.image_size = 28;
  const auto largest = [&](std::size_t mib, std::int64_t below) {
    return largest_batch(settings.workload, {.host = limit_of(mib)}, Need::on_the_host, below);
  };
  EXPECT_EQ(largest(512, 1 << 30).batch, 502);
  EXPECT_EQ(largest(512, 1 << 30).need.total(), 512 * kMiB);
  EXPECT_EQ(largest(512, 1 << 30).next.total(), 513 * kMiB);
  EXPECT_EQ(largest(512, 100).batch, 99);
  EXPECT_EQ(largest(512, 100).next.total(), 0);
  EXPECT_EQ(largest(10, 100).batch, 0);
}

TEST(LargestBatch, AsksForNoBatchWhoseImagesAloneAreTooLarge) {
  RunSettings settings;
  settings.workload.dataset = &dataset_named("imagenet");
  settings.workload.image_size = 1 << 14;  // 3 GiB per image.
  std::vector<std::int64_t> asked;
  const auto ask = [&](std::int64_t batch) {
    asked.push_back(batch);
    return MemoryNeed{};
  };
  EXPECT_EQ(largest_batch(settings.workload, {.host = limit_of(10 << 10)}, ask, 1 << 30).batch, 3);
  EXPECT_LE(*std::max_element(asked.begin(), asked.end()), 3);
}

TEST(MemoryCheck, ComparesADevicesMemoryWithItsLimit) {
  const MemoryLimits limits{.host = limit_of(64),
                            .device = MemoryLimit{.bytes = 512 * kMiB, .set_by = "free on it"}};
  const std::string message = Need().refusal(1024, limits);
  EXPECT_THAT(message, StartsWith("--batch_size=1024 needs 1.0 GiB of the device's memory ("));
  EXPECT_THAT(message, HasSubstr("), but only 512.0 MiB is available (free on it); "));
  EXPECT_THAT(message, EndsWith("the largest batch that fits is 502"));
  EXPECT_EQ(Need().refusal(500, limits), "no UsageError");
  PlannedMemory memory;
  memory.executor.activations = 100 * kMiB;
  memory.input_slots = 65 * kMiB;
  const RunSettings settings = lenet();
  const auto none_fits = [](std::int64_t) { return MemoryNeed{.host = std::size_t{1} << 60}; };
  EXPECT_EQ(usage_error([&] { check_memory(settings.workload, memory, limits, none_fits); }),
            "--batch_size=32 needs 65.0 MiB (input 65.0 MiB), but only 64.0 MiB is available "
            "(/cg/memory.max); no batch fits");
}

TEST(MemoryLimits, AreTheDevicesIfItsMemoryIsSeparate) {
  std::vector<Device> near(1);
  near[0].backend = make_reference_backend();
  EXPECT_FALSE(limits_of_run(lenet().execution, limit_of(64), near).device);
  std::vector<Device> far(1);
  far[0].backend = make_far_backend(make_reference_backend(), {.memory_bytes = 512 * kMiB});
  const auto held = far[0].backend->allocate(12 * kMiB);
  const MemoryLimits limits = limits_of_run(lenet().execution, limit_of(64), far);
  EXPECT_EQ(limits.device.value().bytes, 500 * kMiB);
  EXPECT_EQ(limits.host.value().bytes, 64 * kMiB);
}

TEST(MemoryLimits, AreAFractionOfTheDevices) {
  std::vector<Device> far(1);
  far[0].backend = make_far_backend(make_reference_backend(), {.memory_bytes = 512 * kMiB});
  const MemoryLimits limits =
      limits_of_run(lenet({"--gpu_memory_frac_for_testing=0.25"}).execution, limit_of(64), far);
  EXPECT_EQ(limits.device.value().bytes, 128 * kMiB);
  EXPECT_THAT(limits.device.value().set_by, EndsWith(", times --gpu_memory_frac_for_testing=0.25"));
}

TEST(MemoryLimits, AreTheSmallestOfSeveralDevices) {
  std::vector<Device> devices(3);
  const std::array<std::size_t, 3> bytes{3 * kMiB, kMiB, 2 * kMiB};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    FarSchedule schedule;
    schedule.memory_bytes = bytes[i];
    devices[i].backend = make_far_backend(make_reference_backend(), schedule);
  }
  const MemoryLimits limits = limits_of_run(lenet().execution, limit_of(1), devices);
  ASSERT_TRUE(limits.device.has_value());
  EXPECT_EQ(limits.device->bytes, static_cast<std::int64_t>(kMiB));
}

TEST(MemoryLimits, AreTheWholeMemoryOfADescribedCard) {
  std::vector<Device> card(1);
  card[0].backend = make_far_backend(make_reference_backend(), {.memory_bytes = 512 * kMiB});
  RunSettings settings = lenet();
  settings.execution.gpu.plan_for = "a card";
  const MemoryLimits limits = limits_of_run(settings.execution, limit_of(1), card);
  PlannedMemory memory;
  memory.input_slots = std::size_t{1} << 60;  // More than any host has.
  memory.executor.activations = 512 * kMiB;
  EXPECT_EQ(memory_shortage(lenet().workload, memory, limits), std::nullopt);
  memory.executor.activations += 1;
  const std::string text = memory_shortage(lenet().workload, memory, limits).value_or("");
  EXPECT_THAT(text, StartsWith("--batch_size=32 needs 512.0 MiB of the device's memory ("));
  EXPECT_THAT(text, EndsWith("), but only 512.0 MiB is available (all memory of the card)"));
}

TEST(MemoryCheck, SaysThatNoBatchFits) {
  EXPECT_THAT(Need().refusal(100, limit_of(10)), EndsWith("; no batch fits"));
  EXPECT_THAT(Need().refusal(1, limit_of(10)), EndsWith("; no batch fits"));
  EXPECT_THAT(Need().refusal(1, limit_of(0)), EndsWith("; no batch fits"));
}

TEST(MemoryCheck, NamesTheImagesWhereTheyAloneAreTooLarge) {
  RunSettings settings;
  settings.workload.dataset = &dataset_named("imagenet");
  settings.workload.image_size = 28;
  settings.workload.batch = 1 << 30;
  const MemoryLimits limits{.host = limit_of(512)};
  const std::string message =
      usage_error([&] { check_images_memory(settings.workload, limits, Need::on_the_host); });
  EXPECT_EQ(
      message,
      "--batch_size=1073741824 needs 9.2 TiB for its input alone, but only 512.0 MiB is available "
      "(/cg/memory.max); the largest batch that fits is 502");
  settings.workload.batch = 1;
  EXPECT_NO_THROW(check_images_memory(settings.workload, limits, Need::on_the_host));
  const MemoryLimits unknown{.host = Unknown{"no /proc"}};
  EXPECT_NO_THROW(check_images_memory(settings.workload, unknown, Need::on_the_host));
}

TEST(MemoryCheck, AcceptsABatchThatFitsWithoutFurtherPlans) {
  Need need;
  EXPECT_EQ(need.refusal(100, limit_of(110)), "no UsageError");
  EXPECT_TRUE(need.asked.empty());
}

TEST(MemoryCheck, LetsEverythingPassWhereTheLimitIsUnknown) {
  EXPECT_EQ(Need().refusal(1 << 20, Unknown{"no /proc"}), "no UsageError");
}

TEST(RunMemory, CountsOneSlotForSyntheticImagesAndSeveralOtherwise) {
  const auto backend = make_reference_backend();
  constexpr std::size_t kSlot = std::size_t{4} * 3 * 28 * 28 * sizeof(float);
  EXPECT_EQ(run_memory(lenet(), *backend, {}, 4).input_slots, kSlot);
  RunSettings reading = lenet();
  reading.workload.input.dataset = DatasetOptions{.data_dir = "/imagenet"};
  EXPECT_EQ(run_memory(reading, *backend, {}, 4).input_slots,
            kSlot * DatasetOptions{}.prefetch_batches);
}

TEST(RunMemory, CountsPixelsAndTheirFloatsOnTheHost) {
  constexpr std::size_t kPixels = std::size_t{4} * 3 * 28 * 28;
  RunSettings reading = lenet();
  reading.workload.input.dataset = DatasetOptions{.data_dir = "/imagenet"};
  reading.execution.slots = SlotType::u8;
  const std::size_t ring = kPixels * DatasetOptions{}.prefetch_batches;
  const auto near = make_reference_backend();
  EXPECT_EQ(run_memory(reading, *near, {}, 4).input_slots, ring + kPixels * sizeof(float));
  const auto far = make_far_backend(make_reference_backend(), {});
  EXPECT_EQ(run_memory(reading, *far, {}, 4).input_slots, ring);
  EXPECT_EQ(slot_image_bytes(reading), kPixels / 4);
  EXPECT_EQ(slot_image_bytes(lenet()), kPixels);
}

TEST(RunMemory, CountsTheInputsOfAModelWithoutImages) {
  Workload workload = lenet().workload;
  workload.model = find_model("deepspeech2", "librispeech");
  EXPECT_EQ(image_elements(workload), 3494U * 161 + 576 + 2);
}

TEST(RunMemory, CountsTheTargetsOfADetectorBesidesItsImages) {
  Workload workload = lenet().workload;
  workload.model = find_model("ssd300", "coco");
  workload.image_size = 300;
  workload.num_classes = 81;
  EXPECT_EQ(image_elements(workload), 3U * 300 * 300);
  EXPECT_EQ(image_bytes(workload, 2), 2U * (3 * 300 * 300 + 8732 * 5) * sizeof(float));
}

TEST(RunMemory, CountsFloatsAndBytesForPixelsOnADevice) {
  RunSettings reading = lenet();
  reading.workload.input.dataset = DatasetOptions{.data_dir = "/imagenet"};
  const auto far = make_far_backend(make_reference_backend(), {});
  const std::size_t floats = plan_run_memory(reading, *far, 256).executor.landing;
  reading.execution.slots = SlotType::u8;
  const MemoryReport pixels = plan_run_memory(reading, *far, 256).executor;
  EXPECT_EQ(floats - pixels.landing, std::size_t{256} * 3 * 28 * 28 * (sizeof(float) - 1));
  EXPECT_EQ(pixels.inputs, floats);
}

TEST(RunMemory, CountsTheOptimizersSlotsWhenTraining) {
  const auto backend = make_reference_backend();
  const TowerPlan tower{.memory = {.variables = 4000, .gradients = 4000},
                        .segments = {{.offset = 0, .count = 1000}}};
  const auto slots = [&](const std::vector<std::string_view>& more) {
    return run_memory(lenet(more), *backend, tower, 4).optimizer();
  };
  EXPECT_EQ(slots({}), 0U);
  EXPECT_EQ(slots({"--optimizer=momentum"}), 4000U);
  EXPECT_EQ(slots({"--optimizer=rmsprop"}), 8000U);
  EXPECT_EQ(slots({"--optimizer=adam"}), 8000U);
  EXPECT_EQ(slots({"--optimizer=momentum", "--forward_only"}), 0U);
}

/// A network in which one variable has most of the elements, as in VGG-16.
const TowerPlan kUneven{
    .memory = {.variables = 4000, .gradients = 4000},
    .segments = {
        {.offset = 0, .count = 800}, {.offset = 800, .count = 100}, {.offset = 900, .count = 100}}};

RunSettings four_towers(std::vector<std::string_view> more) {
  more.insert(more.end(), {"--num_gpus=4", "--optimizer=adam"});
  return lenet(more);
}

TEST(RunMemory, CountsTheSlotsOfEachTowersVariables) {
  const auto far = make_far_backend(make_reference_backend(), {});
  const auto slots = [&](const std::vector<std::string_view>& more) {
    const RunSettings settings = four_towers(more);
    const PlannedMemory memory = run_memory(settings, *far, kUneven, 4);
    std::vector<std::size_t> each;
    std::size_t sum = 0;
    for (std::size_t tower = 0; tower < memory.towers(); ++tower) {
      const MemoryNeed need = memory.of_tower(tower);
      EXPECT_EQ(need.device, kUneven.memory.total() + memory.updates[tower].computing);
      sum += need.total();
      each.push_back(memory.updates[tower].computing);
    }
    EXPECT_EQ(sum, memory.total());
    const MemoryLimits limits{.host = limit_of(1), .device = MemoryLimit{}};
    EXPECT_EQ(
        limits.need_of(memory).device,
        kUneven.memory.total() + *std::max_element(each.begin(), each.end()) + memory.check.device);
    return each;
  };
  EXPECT_THAT(slots({}), ElementsAre(0, 6400, 0, 1600));
  EXPECT_THAT(slots({"--local_parameter_device=cpu"}), ElementsAre(8000, 0, 0, 0));
  EXPECT_THAT(slots({"--variable_update=replicated"}), ElementsAre(8000, 8000, 8000, 8000));
  // Each tower also holds the variables it reads; owners hold gradients, variables and copies.
  EXPECT_THAT(slots({"--staged_vars"}), ElementsAre(16000, 22400, 16000, 17600));
}

TEST(RunMemory, CountsTheCommunicatorOnTheHost) {
  const auto far = make_far_backend(make_reference_backend(), {});
  const auto near = make_reference_backend();
  EXPECT_EQ(run_memory(four_towers({}), *far, kUneven, 4).communicator(), 4U * 8000);
  EXPECT_EQ(run_memory(four_towers({}), *near, kUneven, 4).communicator(), 0U);
  EXPECT_EQ(
      run_memory(four_towers({"--variable_update=replicated"}), *far, kUneven, 4).communicator(),
      4U * 4000);
  EXPECT_EQ(
      run_memory(four_towers({"--variable_update=independent"}), *far, kUneven, 4).communicator(),
      0U);
}

TEST(MemoryCheck, NamesTheTowerWhoseDeviceIsTooSmall) {
  const auto far = make_far_backend(make_reference_backend(), {});
  TowerPlan tower = kUneven;
  for (OptimizerSegment& segment : tower.segments) {
    segment.offset *= kMiB;
    segment.count *= kMiB;
  }
  const RunSettings settings = four_towers({});
  const PlannedMemory memory = run_memory(settings, *far, tower, 4);
  const auto fits = [&](std::size_t mib) {
    const MemoryLimits limits{.host = Unknown{"no file tells"}, .device = limit_of(mib)};
    return memory_shortage(settings.workload, memory, limits).value_or("");
  };
  EXPECT_EQ(fits(6500), "");
  EXPECT_THAT(fits(6399), HasSubstr(" of the memory of tower 1's device ("));
  EXPECT_THAT(fits(6399), HasSubstr(", optimizer 6.2 GiB, "));
}

TEST(RunMemory, IsPrintedForEachTowerAndMemory) {
  const auto print = [](Backend& backend) {
    std::ostringstream out;
    out << run_memory(four_towers({}), backend, kUneven, 4);
    return out.str();
  };
  EXPECT_THAT(print(*make_far_backend(make_reference_backend(), {})),
              EndsWith("; tower 0: host 44.6 KiB, device 7.8 KiB; tower 1: host 44.6 KiB, device "
                       "14.1 KiB; tower 2: host 44.6 KiB, device 7.8 KiB; tower 3: host 44.6 KiB, "
                       "device 9.4 KiB"));
  EXPECT_THAT(print(*make_reference_backend()), HasSubstr("; tower 1: host 50.8 KiB; tower 2: "));
}

TEST(RunMemory, GrowsWithTheBatchAndNotTheVariables) {
  const auto backend = make_reference_backend();
  const RunSettings settings = lenet();
  const PlannedMemory one = plan_run_memory(settings, *backend, 1);
  const PlannedMemory eight = plan_run_memory(settings, *backend, 8);
  EXPECT_EQ(one.executor.variables, eight.executor.variables);
  EXPECT_GE(eight.executor.activations, 6 * one.executor.activations);
  EXPECT_GT(eight.total(), one.total());
}

TEST(FingerprintMemory, HasVariablesInF32EvenIfStoredIn16Bits) {
  const auto backend = make_reference_backend();
  const auto bytes = [&](std::string_view dtype) {
    return fingerprint_need(lenet({"--forward_only", dtype}), *backend, 2).host;
  };
  EXPECT_GE(bytes("--dtype=bf16"), bytes("--dtype=f32"));
}

TEST(RunMemory, CountsTheCheckAfterTheSteps) {
  const auto backend = make_reference_backend();
  const PlannedMemory memory = plan_run_memory(lenet(), *backend, 4);
  EXPECT_GT(memory.check.host, 0U);
  const MemoryLimits limits{.host = limit_of(1)};
  EXPECT_EQ(limits.need_of(memory).host, memory.total() + memory.check.host);
  const auto none_fits = [](std::int64_t) { return MemoryNeed{.host = std::size_t{1} << 60}; };
  EXPECT_THAT(
      usage_error([&] { check_memory(lenet().workload, memory, limits, none_fits); }),
      HasSubstr(fmt::format(", check after the steps {}), ", format_bytes(memory.check.host))));
}

TEST(RunMemory, IsPrintedByRegion) {
  std::ostringstream out;
  out << PlannedMemory{.executor = {.variables = kMiB},
                       .updates = {{.computing = 2 * kMiB}},
                       .input_slots = 3 * kMiB};
  EXPECT_THAT(out.str(), HasSubstr("variables 1.0 MiB"));
  EXPECT_THAT(out.str(), EndsWith(", optimizer 2.0 MiB, input 3.0 MiB"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\n")));
}

TEST(MemoryCheck, RefusesVariablesThatCannotBeDrawn) {
  RunSettings settings = resolve_settings(parse({"--model=lenet"}));
  EXPECT_EQ(usage_error([&] { check_variables_memory(settings, limit_of(8)); }),
            "--model=lenet with images of 28 x 28 pixels and 1001 classes needs 8.3 MiB for its "
            "variables alone, but only 8.0 MiB is available (/cg/memory.max)");
  EXPECT_NO_THROW(check_variables_memory(settings, limit_of(9)));
  EXPECT_NO_THROW(check_variables_memory(settings, Unknown{"no file tells"}));
  settings.execution.gpu.plan_for = "sm_90";
  EXPECT_NO_THROW(check_variables_memory(settings, limit_of(8))) << "none are drawn";
}

}  // namespace
}  // namespace bench

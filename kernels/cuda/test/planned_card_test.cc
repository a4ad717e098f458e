// Plans for described cards: from the table, from a file, and from a present device.

#include <fmt/ostream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/properties_file.h"
#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/test/training_graph.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "kernels/runtime/plan.h"
#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"

namespace bench::cuda {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PlannedCard : public testing::Test {
 protected:
  /// The path of a file with this text.
  std::string file(const std::string& text) {
    const std::string path = (folder_.path() / fmt::format("card{}.json", ++files_)).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string file_of(const DeviceProperties& device) { return file(description_json(device)); }

  /// The message with which a file with this text is refused.
  std::string refusal(const std::string& text) { return refusal_of(file(text)); }
  static std::string refusal_of(const std::string& card) {
    try {
      described_device(card);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  ScratchFolder folder_;
  int files_ = 0;
};

/// The plan of a network's training step, with its report of memory and time.
std::string plan_on(Backend& backend) {
  const Graph graph = training_graph("resnet50_v1.5", DType::f16, backend);
  const Plan plan(graph, backend, {.format = DataFormat::automatic});
  return fmt::format("{}{}\n{:g} ns, {} launches\n", fmt::streamed(plan.lowered),
                     fmt::streamed(plan.memory.report), plan.lowered.seconds * 1e9,
                     launches_of(plan.lowered));
}
std::string plan_for(const std::string& card) {
  return plan_on(*make_emulated_provider()->make_planner(card, {}).backend);
}

// The cards that bench's --plan_for accepts, each of which must be plannable.
TEST_F(PlannedCard, IsOneOfEachComputeCapability) {
  std::vector<int> capabilities;
  for (const DeviceProperties& device : described_cards()) {
    capabilities.push_back(device.capability);
  }
  EXPECT_THAT(capabilities, ElementsAre(75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121));
}

TEST_F(PlannedCard, IsTheSameInAFile) {
  for (const DeviceProperties& device : described_cards()) {
    EXPECT_EQ(described_device(file_of(device)), device) << device.name;
  }
}

TEST_F(PlannedCard, HasTheSamePlanByItsFileAsByItsName) {
  const std::string by_name = plan_for("sm_90");
  EXPECT_EQ(plan_for(file_of(described_device("sm_90"))), by_name);
  EXPECT_NE(plan_for("sm_80"), by_name);
}

TEST_F(PlannedCard, HasThePlanOfTheDeviceThatItDescribes) {
  const DeviceProperties device = present_devices().usable.front().properties;
  // The output of gpu_properties for a machine with two of them.
  const json one{{"description", json::parse(description_json(device))}};
  const std::string path = file(json{{"cuda_of_driver", 13000}, {"gpus", {one, one}}}.dump());
  EXPECT_EQ(plan_for(path), plan_on(*make_emulated_backend()));
}

TEST_F(PlannedCard, IsPlannedWithSharesOfTheDataSheet) {
  const DeviceProperties device = described_device("sm_90");
  EXPECT_EQ(planning_speeds(device).bytes_per_second, 2512.5e9);
  EXPECT_EQ(planning_speeds(device).flops_per_second_16, 494.5e12);
  EXPECT_EQ(
      planning_text(device),
      "2512.5 GB/s (0.75 of the data sheet), 494.5 TFLOP/s in 16 bits (0.5 of the data sheet), "
      "247 in TF32 (0.5 of the data sheet), 28.8 in f32 (0.43 of the data sheet) and 2 us per "
      "launch (assumed)");
}

TEST_F(PlannedCard, WithoutTf32HasNoSpeedOfIt) {
  EXPECT_THAT(planning_text(described_device("sm_75")), Not(HasSubstr("TF32")));
  EXPECT_THAT(planning_text(described_device("sm_80")), HasSubstr("TF32"));
}

TEST_F(PlannedCard, IncludesTheH200) {
  const PlannedGpu planned = make_emulated_provider()->make_planner(H200, {});
  EXPECT_EQ(planned.gpu.name, "NVIDIA H200");
  EXPECT_EQ(planned.gpu.capability, 90);
  EXPECT_THAT(
      planned.speeds,
      StartsWith(
          "3600 GB/s (0.75 of the file's rate), 494.5 TFLOP/s in 16 bits (0.5 of the file's rate), "
          "247 in TF32 (0.5 of the file's rate), 28.8 in f32 (0.43 of the file's rate) and "));
  EXPECT_EQ(planned.backend->memory_traits().free_bytes, 141'000'000'000U);
  EXPECT_EQ(described_device(H200).sheet.bytes_per_second, 4.8e12);
}

TEST_F(PlannedCard, IsRefusedIfTheFileIsInvalid) {
  const std::string missing = file("") + ".not";
  EXPECT_EQ(refusal_of(missing), "this is neither a known GPU nor an existing file");
  EXPECT_EQ(refusal_of(std::filesystem::path(missing).parent_path().string()),
            "this is not a regular file");
  EXPECT_EQ(refusal(""), "the file is not JSON");
  EXPECT_EQ(refusal("{\"name\": "), "the file is not JSON");
  EXPECT_EQ(refusal("[1]"), "the file does not describe a GPU");
  EXPECT_EQ(refusal("{\"gpus\": []}"), "\"gpus\" is not a list of GPUs");
  EXPECT_EQ(refusal("{\"gpus\": [{}]}"), "the description has no \"description\"");
  const json whole = json::parse(description_json(described_device("sm_90")));
  for (const auto& [key, value] : whole.items()) {
    json less = whole;
    less.erase(key);
    EXPECT_EQ(refusal(less.dump()), fmt::format("the description has no \"{}\"", key));
  }
  const auto with = [&](const char* key, const json& value) {
    json other = whole;
    other[key] = value;
    return refusal(other.dump());
  };
  EXPECT_EQ(with("capability", 70),
            "capability is 70, not one of 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121");
  EXPECT_EQ(with("name", 7), "name is 7, not a string");
  EXPECT_EQ(with("multiprocessors", "132"),
            "multiprocessors is \"132\", not a positive whole number");
  EXPECT_EQ(with("multiprocessors", 1.5), "multiprocessors is 1.5, not a positive whole number");
  EXPECT_EQ(with("memory_bytes", -1), "memory_bytes is -1, not a positive whole number");
  EXPECT_THAT(with("clock_khz", 1e300), HasSubstr("not a positive whole number"));
  EXPECT_EQ(with("bytes_per_second", 0), "bytes_per_second is 0, not a positive number");
  const auto described = [](const char* chip) {
    return json{{"description", json::parse(description_json(described_device(chip)))}};
  };
  EXPECT_EQ(refusal(json{{"gpus", {described("sm_80"), described("sm_90")}}}.dump()),
            "the file describes GPUs that differ; keep only the one to plan for");
  EXPECT_EQ(refusal_of("sm_70"), "this is neither a known GPU nor an existing file");
}

/// Emulated devices of these capabilities, during its lifetime.
class Machine {
 public:
  explicit Machine(const std::vector<int>& capabilities)
      : count_(static_cast<int>(capabilities.size())) {
    emulator::set_devices(count_);
    for (int device = 0; device < count_; ++device) {
      emulator::set_capability(device, capabilities[static_cast<std::size_t>(device)]);
    }
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    static_cast<void>(cudaSetDevice(0));
    for (int device = 0; device < count_; ++device) {
      emulator::set_capability(device, 90);
    }
    emulator::set_devices(1);
  }

 private:
  int count_;
};

TEST(PresentGpus, OmitGpusThatAreTooOld) {
  const Machine machine({75, 70, 90});
  const auto provider = make_emulated_provider();
  const PresentGpus present = provider->gpus();
  ASSERT_EQ(present.usable.size(), 2);
  EXPECT_EQ(present.usable[0].capability, 75);
  EXPECT_EQ(present.usable[1].capability, 90);
  EXPECT_EQ(present.usable[1].pci_bus_id, "0000:00:00.2");
  EXPECT_THAT(present.left_out,
              testing::ElementsAre("GPU 1 (Emulated GPU) is skipped: it has compute capability "
                                   "7.0, but this program needs at least 7.5"));
  // The second usable device is the runtime's third.
  const auto backend = provider->make_backend(1, {});
  int device = -1;
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 2);
  EXPECT_THROW(provider->make_backend(2, {}), UsageError);
}

TEST(PresentGpus, AreRefusedIfAllAreTooOld) {
  const Machine machine({70, 61});
  try {
    make_emulated_provider()->gpus();
    FAIL() << "a GPU is taken";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "this program needs compute capability 7.5 or newer, but GPU 0 (Emulated GPU) has "
                 "7.0, GPU 1 (Emulated GPU) has 6.1");
  }
}

}  // namespace
}  // namespace bench::cuda

#include "bench/kernels/lone_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/device.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"

namespace bench {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// The plan of a small run on the CPU with one thread.
class Planned {
 public:
  explicit Planned(std::vector<std::string_view> arguments) {
    arguments.insert(arguments.end(), {"--num_intra_threads=1", "--batch_size=2"});
    const RunSettings settings = resolve_settings(parse(arguments));
    device_ = make_device(settings);
    plan_ =
        std::make_unique<Plan>(build_run_graph(settings, *device_.backend, settings.workload.batch),
                               *device_.backend, settings.execution.lowering());
  }
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] const Step& step(const DistinctStep& distinct) const {
    return plan_->lowered.steps[distinct.step];
  }
  [[nodiscard]] Backend& backend() const { return *device_.backend; }

 private:
  Device device_;
  std::unique_ptr<Plan> plan_;
};

std::vector<std::byte> bytes_of(const std::vector<TensorView>& views) {
  std::vector<std::byte> bytes;
  for (const TensorView& view : views) {
    const auto* begin = view.as<const std::byte>();
    bytes.insert(bytes.end(), begin, begin + view.bytes);
  }
  return bytes;
}

TEST(DistinctSteps, CountEveryStepOfThePlanOnce) {
  for (const char* model : {"--model=lenet", "--model=resnet20"}) {
    const Planned planned({model});
    std::int64_t steps = 0;
    for (const DistinctStep& distinct : distinct_steps(planned.plan())) {
      EXPECT_GE(distinct.count, 1);
      steps += distinct.count;
    }
    EXPECT_EQ(steps, static_cast<std::int64_t>(planned.plan().lowered.steps.size())) << model;
  }
}

TEST(DistinctSteps, JoinOnlyLayersOfOneShape) {
  const Planned planned({"--model=resnet20", "--data_format=NHWC"});
  std::vector<std::int64_t> counts;
  std::set<std::string> shapes;
  for (const DistinctStep& distinct : distinct_steps(planned.plan())) {
    if (planned.step(distinct).op == "conv2d") {
      counts.push_back(distinct.count);
      shapes.insert(distinct.shapes);
    }
  }
  // The first layer, then per stage 3 blocks of two 3x3 convolutions. The first block of a stage
  // has a stride and another number of channels.
  EXPECT_THAT(counts, Contains(6));
  EXPECT_THAT(counts, Contains(5));
  EXPECT_THAT(shapes, Contains(HasSubstr("f32[2x16x32x32] nhwc")));
}

TEST(DistinctSteps, IncludeForwardBackwardAndInPlaceSteps) {
  const Planned planned({"--model=resnet20"});
  std::set<std::string> ops;
  bool in_place = false;
  for (const DistinctStep& distinct : distinct_steps(planned.plan())) {
    ops.insert(planned.step(distinct).op);
    in_place = in_place || distinct.shapes.find("in place of input") != std::string::npos;
  }
  EXPECT_THAT(ops, Contains("conv2d"));
  EXPECT_THAT(ops, Contains("conv2d_backward_data"));
  EXPECT_THAT(ops, Contains("conv2d_backward_weights"));
  EXPECT_TRUE(in_place);
}

TEST(LoneStep, GivesTheSameFiniteNumbersEachTimeForEveryKernel) {
  // Together the models have pools with opaque results, dropout, losses and in-place kernels.
  using Arguments = std::vector<std::string_view>;
  for (const Arguments& run : {Arguments{"--model=lenet"}, Arguments{"--model=resnet20"},
                               Arguments{"--model=alexnet", "--data_name=cifar10"}}) {
    const Planned planned(run);
    for (const DistinctStep& distinct : distinct_steps(planned.plan())) {
      const Step& step = planned.step(distinct);
      LoneStep lone(planned.plan(), distinct.step, planned.backend());
      EXPECT_GE(lone.run().count(), 0);
      const std::vector<std::byte> once = bytes_of(lone.outputs());
      lone.run();
      EXPECT_EQ(once, bytes_of(lone.outputs())) << step.op << " " << step.name;
      bool some = false;
      for (std::size_t o = 0; o < step.outputs.size(); ++o) {
        const Buffer& buffer = planned.plan().lowered.buffers[step.outputs[o]];
        if (buffer.type.opaque || buffer.type.dtype != DType::f32) {
          continue;
        }
        const TensorView view = lone.outputs()[o];
        for (std::size_t i = 0; i < view.bytes / sizeof(float); ++i) {
          ASSERT_TRUE(std::isfinite(view.as<const float>()[i])) << step.op << " " << step.name;
          some = some || view.as<const float>()[i] != 0;
        }
      }
      EXPECT_TRUE(some || step.op == "top_k_accuracy") << step.op << " " << step.name;
    }
  }
}

TEST(LoneStep, GivesLossesLabelsThatCount) {
  for (const auto& [model, op] : {std::pair("--model=deepspeech2", "ctc_loss"),
                                  std::pair("--model=ssd300", "multibox_loss")}) {
    const Planned planned({model});
    const std::vector<DistinctStep> steps = distinct_steps(planned.plan());
    const auto loss = std::find_if(steps.begin(), steps.end(), [&](const DistinctStep& step) {
      return planned.step(step).op == op;
    });
    ASSERT_NE(loss, steps.end()) << model;
    LoneStep lone(planned.plan(), loss->step, planned.backend());
    lone.run();
    const float value = *lone.outputs().front().as<const float>();
    EXPECT_TRUE(value > 0 && std::isfinite(value)) << model << ": " << value;
  }
}

}  // namespace
}  // namespace bench

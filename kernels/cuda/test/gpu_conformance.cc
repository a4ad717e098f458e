// The conformance suite on this machine's GPU, through the library that bench opens. Without a GPU
// it reports this and exits with 77. If the device cannot be used any more, it exits with 3. Flags
// are GoogleTest's; GTEST_TOTAL_SHARDS and GTEST_SHARD_INDEX divide the suite among processes.

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kernels/cuda/test/gpu_ways.h"
#include "kernels/gpu_provider.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"

namespace bench {
namespace {

constexpr int kSkipped = 77;
constexpr int kDeviceLost = 3;

std::unique_ptr<Backend> make_present() { return open_gpu_provider().make_backend(0, {}); }

BackendUnderTest present() { return gpu_under_test("gpu", make_present); }

std::vector<KernelCase> cases_with_library_kernels(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.op != &kConv2d && one.op != &kConv2dBackwardWeights && one.op != &kFullyConnected;
  });
  for (KernelCase& one : cases) {
    // A library may add many terms in one accumulator.
    one.epsilons = std::max(one.epsilons, 1.0);
  }
  return cases;
}

/// Estimates choose one candidate, but a tuned run may use any of them.
class EveryCandidate : public Conformance {
 protected:
  struct Tried {
    CaseOutputs outputs;
    /// The precision of each result.
    std::map<std::string, DType> precisions;
    std::string names;
  };
  /// The results with candidate `index` of each node, or the last if it has fewer. Sets `most` to
  /// the most candidates of a node. Empty if the device cannot create a kernel.
  std::optional<Tried> run_with(std::size_t index, const CaseData& data, std::size_t& most) const {
    std::set<std::string> chosen;
    FilteringBackend one(device(), [&](const Node& node, std::vector<Candidate>& candidates) {
      most = std::max(most, candidates.size());
      const Candidate kept = candidates[std::min(index, candidates.size() - 1)];
      chosen.insert(fmt::format("{} {}", node.op->name, kept.implementation));
      candidates = {kept};
    });
    std::optional<CaseRunner> runner;
    try {
      runner.emplace(kernel_case(), options(Weights::inputs), one);
    } catch (const DeviceError& error) {
      // Tuning skips what the device refuses, too.
      std::cout << error.what() << "\n";
      return std::nullopt;
    }
    Tried tried{.outputs = runner->run(data),
                .precisions = {},
                .names = fmt::format("{}", fmt::join(chosen, ", "))};
    for (const auto& [name, values] : tried.outputs) {
      tried.precisions[name] = precision(*runner, name);
    }
    return tried;
  }
};

TEST_P(EveryCandidate, MatchesTheReference) {
  if (const std::string why = left_out(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const CaseData data = rounded(kernel_case(), dtype(), draw_case_data(kernel_case(), test_seed()));
  const auto oracle = make_reference_backend();
  const CaseOutputs expected = CaseRunner(kernel_case(), {.dtype = DType::f64}, *oracle).run(data);
  std::size_t compared = 0;
  std::size_t most = 1;
  for (std::size_t i = 0; i < most; ++i) {
    const std::optional<Tried> tried = run_with(i, data, most);
    if (!tried) {
      continue;
    }
    ++compared;
    for (const auto& [name, values] : expected) {
      const Result kind = name.starts_with("out") ? Result::output : Result::gradient;
      EXPECT_EQ(
          compare(kernel_case(), tried->precisions.at(name), kind, tried->outputs.at(name), values),
          "")
          << name << " with " << tried->names;
    }
  }
  EXPECT_GT(compared, 0U);
}

auto every_candidate(DType dtype) {
  return testing::Combine(
      testing::Values(present()), testing::Values(DataFormat::nchw, DataFormat::nhwc),
      testing::Values(dtype), testing::ValuesIn(cases_with_library_kernels(dtype)));
}

/// The cases in which several blocks share a channel's sums and the last block joins them.
std::vector<KernelCase> cases_of_several_blocks(DType dtype) {
  std::vector<KernelCase> cases = cases_in(dtype);
  std::erase_if(cases, [](const KernelCase& one) {
    return one.name.find("several_blocks") == std::string::npos &&
           one.name.find("batch_norm_many_pixels") == std::string::npos;
  });
  return cases;
}

TEST(SharedSums, LeaveTheSameBitsWhicheverBlockComesLast) {
  constexpr int kTimes = 200;
  const auto gpu = make_present();
  for (const DType dtype : {DType::f32, DType::f16}) {
    const std::vector<KernelCase> cases = cases_of_several_blocks(dtype);
    ASSERT_FALSE(cases.empty());
    for (const KernelCase& one : cases) {
      for (const DataFormat format : {DataFormat::nchw, DataFormat::nhwc}) {
        CaseRunner runner(one, {.dtype = dtype, .format = format, .deterministic = true}, *gpu);
        const CaseData data = draw_case_data(one, test_seed());
        const CaseOutputs first = runner.run(data);
        for (int time = 1; time < kTimes; ++time) {
          ASSERT_EQ(runner.run(data), first)
              << one.name << ", " << name_of(format) << ", run " << time;
        }
      }
    }
  }
}

/// After an illegal access, every later call of the process fails. Then the process ends after the
/// test in which it happened.
class DeviceWatch : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) {
      return;
    }
    try {
      const auto gpu = make_present();
      gpu->make_stream()->synchronize();
      static_cast<void>(gpu->allocate(1));
    } catch (const std::exception& error) {
      std::cout << "the device cannot be used any more: " << error.what() << std::endl;
      std::_Exit(kDeviceLost);
    }
  }
};

int run(int argc, char** argv) {
  const bool asks_for_help =
      std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--help"; });
  if (asks_for_help) {
    std::cout << "Runs every op on this machine's first GPU and compares it with the reference. "
                 "Exits with 77 without a GPU.\nGTEST_TOTAL_SHARDS and GTEST_SHARD_INDEX divide "
                 "the tests among processes. The flags of Google Test apply:\n\n";
  }
  testing::InitGoogleTest(&argc, argv);
  if (asks_for_help || GTEST_FLAG_GET(list_tests)) {
    return RUN_ALL_TESTS();  // prints them, and runs nothing
  }
  if (argc > 1) {
    std::cerr << "gpu_conformance: " << printable(argv[1])
              << ": unknown; --help has what there is\n";
    return 2;
  }
  const FoundGpus found = find_gpus();
  if (found.gpus.empty()) {
    std::cout << "SKIPPED  this host has no usable GPU: " << found.why_none << "\n";
    return kSkipped;
  }
  std::cout << "on " << found.gpus.front().name << ", with " << found.provider->libraries() << "\n";
  testing::UnitTest::GetInstance()->listeners().Append(new DeviceWatch);
  return RUN_ALL_TESTS();
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(F32, Conformance, conformance_parameters(present(), DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F16, Conformance, conformance_parameters(present(), DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(Bf16, Conformance, conformance_parameters(present(), DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindF32, Conformance, behind_parameters(make_present, DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindF16, Conformance, behind_parameters(make_present, DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(BehindBf16, Conformance, behind_parameters(make_present, DType::bf16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseF32, Conformance, depthwise_parameters(make_present, DType::f32),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseF16, Conformance, depthwise_parameters(make_present, DType::f16),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(DepthwiseBf16, Conformance,
                         depthwise_parameters(make_present, DType::bf16), conformance_name);
INSTANTIATE_TEST_SUITE_P(StatisticsBehindF16, Conformance,
                         statistics_behind_parameters(make_present), conformance_name);
INSTANTIATE_TEST_SUITE_P(ChainedBehindF16, Conformance, chained_behind_parameters(make_present),
                         conformance_name);
INSTANTIATE_TEST_SUITE_P(F32, EveryCandidate, every_candidate(DType::f32), conformance_name);
INSTANTIATE_TEST_SUITE_P(F16, EveryCandidate, every_candidate(DType::f16), conformance_name);
INSTANTIATE_TEST_SUITE_P(Bf16, EveryCandidate, every_candidate(DType::bf16), conformance_name);
INSTANTIATE_TEST_SUITE_P(Gpu, OptimizerConformance, optimizer_parameters(present()),
                         optimizer_name);
INSTANTIATE_TEST_SUITE_P(Gpu, NormalizationConformance,
                         normalization_parameters(present(), {DType::f32, DType::f16, DType::bf16}),
                         normalization_name);
INSTANTIATE_TEST_SUITE_P(Gpu, StreamConformance, testing::Values(present()), backend_name);

}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv); }

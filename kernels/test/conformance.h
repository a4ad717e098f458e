#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/cases/cases.h"
#include "kernels/test/case_runner.h"

namespace bench {

/// The suites that every backend must pass. A backend's test program compiles their sources and
/// instantiates them all:
///
///   INSTANTIATE_TEST_SUITE_P(Mine, Conformance, conformance_parameters({"mine", make_my_backend},
///   DType::f32),
///                            conformance_name);
///   INSTANTIATE_TEST_SUITE_P(Mine, OptimizerConformance,
///                            optimizer_parameters({"mine", make_my_backend}), optimizer_name);
struct BackendUnderTest {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
  /// Names of ops without a kernel. Their cases are skipped; an op listed here by mistake fails.
  std::set<std::string_view> lacks = {};
  /// The backend has no kernels for u8 and s8. Cases with such values are skipped; a case that it
  /// supports nevertheless fails.
  bool lacks_quanta = false;
  /// Returns true for any other case that the backend has no kernel for. Such cases are skipped
  /// too; one that it supports nevertheless fails.
  std::function<bool(const KernelCase&, DType)> lacks_case = [](const KernelCase& /*one*/,
                                                                DType /*dtype*/) { return false; };
};
std::ostream& operator<<(std::ostream& out, const BackendUnderTest& backend);

/// Creates each backend once per suite, since threads and engines are expensive.
class BackendSuite : public testing::Test {
 public:
  static void TearDownTestSuite() { backends().clear(); }

 protected:
  static Backend& backend(const BackendUnderTest& under_test) {
    auto& made = backends()[under_test.name];
    if (made == nullptr) {
      made = under_test.make();
    }
    return *made;
  }

 private:
  static std::map<std::string, std::unique_ptr<Backend>>& backends() {
    static std::map<std::string, std::unique_ptr<Backend>> made;
    return made;
  }
};

using ConformanceParameter = std::tuple<BackendUnderTest, DataFormat, DType, KernelCase>;

class Conformance : public BackendSuite, public testing::WithParamInterface<ConformanceParameter> {
 protected:
  [[nodiscard]] const KernelCase& kernel_case() const { return std::get<3>(GetParam()); }
  [[nodiscard]] DType dtype() const { return std::get<2>(GetParam()); }
  [[nodiscard]] Backend& device() const { return backend(std::get<0>(GetParam())); }
  [[nodiscard]] CaseOptions options(Weights weights) const {
    return {.dtype = dtype(), .format = std::get<1>(GetParam()), .weights = weights};
  }
  /// Why the device does not run the case in any form, even decomposed; empty if it does. Only the
  /// listed gaps of the device may be skipped, and 16 bits and int8 on processors without the
  /// instructions.
  [[nodiscard]] std::string left_out() const;
  /// The type that defines the precision of a result of the device.
  [[nodiscard]] DType precision(const CaseRunner& runner, const std::string& result) const;
  /// Runs the case on the device and on the reference in f64, and compares everything.
  void expect_reference_results(Weights weights) const;
};

/// All cases that a device computes in `dtype`.
std::vector<KernelCase> cases_in(DType dtype);

inline auto conformance_parameters(const BackendUnderTest& backend, DType dtype) {
  return testing::Combine(
      testing::Values(backend),
      testing::Values(DataFormat::nchw, DataFormat::nhwc, DataFormat::automatic),
      testing::Values(dtype), testing::ValuesIn(cases_in(dtype)));
}

inline std::string conformance_name(const testing::TestParamInfo<ConformanceParameter>& info) {
  const auto& [backend, format, dtype, kernel_case] = info.param;
  return fmt::format("{}_{}_{}_{}", backend.name, name_of(dtype), name_of(format),
                     kernel_case.name);
}

struct OptimizerCase {
  std::string name;
  OptimizerSettings settings;
  double gradient_scale = 1;
};
std::ostream& operator<<(std::ostream& out, const OptimizerCase& optimizer_case);
std::vector<OptimizerCase> optimizer_cases();

/// Memory, streams, events and recordings:
///
///   INSTANTIATE_TEST_SUITE_P(Mine, StreamConformance,
///                            testing::Values(BackendUnderTest{"mine", make_my_backend}),
///                            backend_name);
class StreamConformance : public BackendSuite,
                          public testing::WithParamInterface<BackendUnderTest> {
 protected:
  [[nodiscard]] Backend& device() const { return backend(GetParam()); }
};

/// Backend::make_normalization() of images in a layout and a type that the device's graphs take:
///
///   INSTANTIATE_TEST_SUITE_P(Mine, NormalizationConformance,
///                            normalization_parameters({"mine", make_my_backend},
///                                                     {DType::f32, DType::bf16}),
///                            normalization_name);
using NormalizationParameter = std::tuple<BackendUnderTest, DataFormat, DType>;

class NormalizationConformance : public BackendSuite,
                                 public testing::WithParamInterface<NormalizationParameter> {};

inline auto normalization_parameters(const BackendUnderTest& backend,
                                     const std::vector<DType>& dtypes) {
  return testing::Combine(testing::Values(backend),
                          testing::Values(DataFormat::nchw, DataFormat::nhwc),
                          testing::ValuesIn(dtypes));
}

inline std::string normalization_name(const testing::TestParamInfo<NormalizationParameter>& info) {
  const auto& [backend, format, dtype] = info.param;
  return fmt::format("{}_{}_{}", backend.name, name_of(dtype), name_of(format));
}

inline std::string backend_name(const testing::TestParamInfo<BackendUnderTest>& info) {
  return info.param.name;
}

/// The command that repeats the current test with the same random numbers.
inline std::string how_to_repeat() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("to repeat: BENCH_TEST_SEED={} --gtest_filter={}.{}", test_seed(),
                     info->test_suite_name(), info->name());
}

using OptimizerParameter = std::tuple<BackendUnderTest, OptimizerCase>;

class OptimizerConformance : public BackendSuite,
                             public testing::WithParamInterface<OptimizerParameter> {};

inline auto optimizer_parameters(const BackendUnderTest& backend) {
  return testing::Combine(testing::Values(backend), testing::ValuesIn(optimizer_cases()));
}

inline std::string optimizer_name(const testing::TestParamInfo<OptimizerParameter>& info) {
  return fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param).name);
}

}  // namespace bench

#include "bench/all_reduce/measure.h"

#include <gtest/gtest.h>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/far_device.h"
#include "models/base/errors.h"

namespace bench {
namespace {

MeasureSettings three_towers() {
  return {.names = {"tower 0", "tower 1", "tower 2"},
          .specs = specs_to_try(3),
          .iters_per_step = 2,
          .repetitions = 3,
          .make_backend = [](int) { return make_reference_backend(); }};
}

TEST(AllReduceMeasure, TimesEverySpecAndFindsNothingWrong) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    const CaseResult result =
        measure_case(three_towers(), {.elements = {1000, 1, 33333}, .dtype = dtype});
    ASSERT_EQ(result.specs.size(), specs_to_try(3).size());
    EXPECT_EQ(result.bound.value().seconds.size(), 3U);
    for (const SpecResult& spec : result.specs) {
      EXPECT_EQ(spec.wrong, 0U) << text_of(spec.timing.spec);
      EXPECT_EQ(spec.timing.seconds.size(), 3U);
    }
  }
}

TEST(AllReduceMeasure, HasNoBoundForDevicesWithSeparateMemory) {
  MeasureSettings settings = three_towers();
  settings.bound = false;
  settings.make_backend = [](int) { return make_far_backend(make_reference_backend(), {}); };
  const CaseResult result = measure_case(settings, {.elements = {1000, 1}});
  EXPECT_FALSE(result.bound.has_value());
  for (const SpecResult& spec : result.specs) {
    EXPECT_EQ(spec.wrong, 0U) << text_of(spec.timing.spec);
  }
}

TEST(AllReduceMeasure, ReportsTheFailureOfATower) {
  MeasureSettings settings = three_towers();
  settings.make_backend = [](int rank) {
    if (rank == 1) {
      throw DeviceError("no such device");
    }
    return make_reference_backend();
  };
  try {
    measure_case(settings, {.elements = {10}});
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "no such device");
  }
}

}  // namespace
}  // namespace bench

#include "bench/plan/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "bench/flags/test/usage_error.h"
#include "kernels/forwarding_backend.h"
#include "kernels/reference/reference_backend.h"

namespace bench {
namespace {

/// The reference without some types.
class BackendWithout final : public ForwardingBackend {
 public:
  BackendWithout(Backend& inner, std::vector<DType> missing)
      : ForwardingBackend(inner), missing_(std::move(missing)) {}

  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    for (const DType dtype : missing_) {
      if (graph.type(node.inputs[0]).dtype == dtype) {
        return {.yes = false, .why_not = fmt::format("no {} here", name_of(dtype))};
      }
    }
    return ForwardingBackend::supports(graph, node);
  }

 private:
  std::vector<DType> missing_;
};

std::string precision_refusal(const std::vector<DType>& missing, const Workload& workload) {
  const std::unique_ptr<Backend> reference = make_reference_backend();
  BackendWithout backend(*reference, missing);
  return usage_error([&] { choose_precision(workload, backend); });
}

TEST(Precision, NamesTheTypesThatTheDeviceSupports) {
  EXPECT_EQ(precision_refusal({DType::f16}, {.dtype = DType::f16}),
            "--dtype=f16: no f16 here; use --dtype=bf16 or --dtype=f32, or --device=reference, "
            "which is slow");
  EXPECT_EQ(precision_refusal({DType::bf16}, {.dtype = DType::bf16}),
            "--dtype=bf16: no bf16 here; use --dtype=f16 or --dtype=f32, or --device=reference, "
            "which is slow");
  EXPECT_EQ(precision_refusal({DType::bf16, DType::f16}, {.dtype = DType::f16}),
            "--dtype=f16: no f16 here; use --dtype=f32, or --device=reference, which is slow");
  EXPECT_EQ(precision_refusal({DType::bf16, DType::f16}, {.choose_half = true}),
            "--use_fp16: no f16 here; no bf16 here; omit this flag to compute in f32");
}

/// A workload of --use_fp16 that continues from a checkpoint of this type.
Workload continued_in(DType half) {
  Workload workload;
  workload.choose_half = true;
  workload.earlier_half = EarlierHalf{.dtype = half};
  return workload;
}

TEST(Precision, OfACheckpointOrOfRank0ComesFirst) {
  const std::unique_ptr<Backend> reference = make_reference_backend();
  for (const DType half : {DType::bf16, DType::f16}) {
    Workload workload = continued_in(half);
    EXPECT_EQ(choose_precision(workload, *reference).dtype, half);
    EXPECT_EQ(choose_precision(workload, *reference).note,
              fmt::format("--use_fp16: computing in {}, like the checkpoint", name_of(half)));
    workload.earlier_half->source = EarlierHalf::Source::rank_0;
    EXPECT_EQ(choose_precision(workload, *reference).dtype, half);
    EXPECT_EQ(choose_precision(workload, *reference).note,
              fmt::format("--use_fp16: computing in {}, like rank 0", name_of(half)));
  }
}

TEST(Precision, AnUnsupportedOneOfACheckpointIsReplacedAndOneOfRank0Refused) {
  const std::unique_ptr<Backend> reference = make_reference_backend();
  BackendWithout backend(*reference, {DType::bf16});
  Workload workload = continued_in(DType::bf16);
  const Precision precision = choose_precision(workload, backend);
  EXPECT_EQ(precision.dtype, DType::f16);
  EXPECT_THAT(precision.note, testing::HasSubstr("the checkpoint was computed in bf16"));
  workload.earlier_half->source = EarlierHalf::Source::rank_0;
  EXPECT_EQ(usage_error([&] { choose_precision(workload, backend); }),
            "--use_fp16: rank 0 computes in bf16, which this rank does not support: no bf16 here; "
            "use a --dtype that all ranks support");
}

}  // namespace
}  // namespace bench

#include "bench/plan/precision.h"

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

}  // namespace
}  // namespace bench

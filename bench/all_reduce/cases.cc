#include "bench/all_reduce/cases.h"

#include <algorithm>

#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "models/base/errors.h"
#include "models/zoo/zoo.h"
#include "variable_mgmt/collectives/buckets.h"
#include "variable_mgmt/collectives/packing.h"

namespace bench {
namespace {

std::vector<GradientSize> gradients_of(const AllReduceOptions& options) {
  const auto models = all_models();
  const auto model = std::find_if(models.begin(), models.end(),
                                  [&](const Model& each) { return each.name == options.model; });
  check(model != models.end(), "the model is not listed");
  ParseResult parsed;
  parsed.flags.model = options.model;
  parsed.flags.data_name = model->dataset;
  parsed.flags.device = "cpu";
  const Graph graph = build_run_network(resolve_settings(parsed).workload, 1);
  std::vector<GradientSize> gradients;
  for (const Variable& variable : graph.variables()) {
    if (variable.trainable()) {
      gradients.push_back(
          {.elements = static_cast<std::size_t>(graph.shape(variable.value).elements()),
           .dtype = options.dtype});
    }
  }
  std::reverse(gradients.begin(), gradients.end());
  return gradients;
}

/// The numbers of elements in the ranges that the buckets of a flat region cover.
std::vector<std::size_t> bucket_elements(const std::vector<GradientSize>& gradients, DType dtype,
                                         std::int64_t bucket_mb) {
  constexpr std::size_t kAlignment = 64;
  constexpr int kMebi = 20;
  std::vector<FinalGradient> pieces;
  std::size_t offset = 0;
  for (const GradientSize& gradient : gradients) {
    const std::size_t bytes = gradient.elements * size_of(dtype);
    pieces.push_back({.piece = {.offset = offset, .bytes = bytes}});
    offset = (offset + bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::vector<std::size_t> elements;
  for (const GradientBucket& bucket :
       plan_buckets(pieces, {.bytes = static_cast<std::size_t>(bucket_mb) << kMebi})) {
    elements.push_back(bucket.piece.bytes / size_of(dtype));
  }
  return elements;
}

std::vector<std::size_t> packed_elements(const AllReduceOptions& options) {
  const std::vector<GradientSize> gradients = gradients_of(options);
  if (options.bucket_mb > 0) {
    return bucket_elements(gradients, options.dtype, options.bucket_mb);
  }
  const std::vector<Pack> packs =
      options.repacking > 0 ? repack(gradients, static_cast<int>(options.repacking))
                            : pack_small(gradients, {.max_bytes = options.small_max_bytes,
                                                     .max_group = options.small_max_group});
  std::vector<std::size_t> elements(packs.size());
  std::transform(packs.begin(), packs.end(), elements.begin(), elements_of);
  return elements;
}

}  // namespace

std::vector<AllReduceCase> cases_of(const AllReduceOptions& options) {
  if (!options.model.empty()) {
    return {{.elements = packed_elements(options), .dtype = options.dtype}};
  }
  std::vector<AllReduceCase> cases;
  for (const std::size_t bytes : options.sizes) {
    cases.push_back({.elements = {bytes / size_of(options.dtype)}, .dtype = options.dtype});
  }
  return cases;
}

}  // namespace bench

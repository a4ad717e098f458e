#include "models/ops/embedding.h"

#include "kernels/cases/cases.h"

namespace bench {
namespace {

KernelCase make_case(const std::string& name, const Shape& table, const Shape& ids) {
  return {.name = "embedding_" + name,
          .op = &kEmbedding,
          .attributes = {},
          .inputs = {{.shape = table}, {.dtype = DType::s32, .shape = ids}},
          .fills = {{}, {.kind = InputFill::Kind::labels, .scale = static_cast<double>(table[0])}},
          .weights = {0},
          // A gradient's row is a sum over the places of its id.
          .reduction = ids.elements()};
}

}  // namespace

std::vector<KernelCase> embedding_cases() {
  return {make_case("sequences", {20, 48}, {4, 7}), make_case("line", {5, 33}, {9}),
          make_case("one_row", {1, 16}, {3, 4}),    make_case("wide", {7, 1500}, {2, 3}),
          make_case("rare", {40, 64}, {2, 5}),      make_case("many", {11, 40}, {4, 8, 64})};
}

}  // namespace bench

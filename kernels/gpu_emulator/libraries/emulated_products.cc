#include "kernels/gpu_emulator/libraries/emulated_products.h"

#include <algorithm>

#include "kernels/gpu_emulator/libraries/emulated_elements.h"
#include "kernels/reference/product.h"

namespace bench::cuda {
namespace {

std::vector<double> compute(const ProductProblem& problem, const ProductMemory& memory) {
  const auto [rows, depth, columns] = std::array{problem.rows, problem.depth, problem.columns};
  const std::vector<double> a = read_elements(memory.a, problem.dtype, rows * depth);
  const std::vector<double> b = read_elements(memory.b, problem.dtype, depth * columns);
  std::vector<double> c(static_cast<std::size_t>(rows * columns));
  std::vector<double> scratch(static_cast<std::size_t>(reference::product_scratch(depth)));
  reference::multiply({.rows = rows,
                       .depth = depth,
                       .columns = columns,
                       .a = {.data = a.data(),
                             .row_stride = problem.transposed_a ? 1 : depth,
                             .column_stride = problem.transposed_a ? rows : 1},
                       .b = {.data = b.data(),
                             .row_stride = problem.transposed_b ? 1 : columns,
                             .column_stride = problem.transposed_b ? depth : 1},
                       .c = c.data(),
                       .row_stride = columns},
                      scratch.data());
  return c;
}

class EmulatedProductPlan final : public ProductPlan {
 public:
  explicit EmulatedProductPlan(const ProductProblem& problem) : problem_(problem) {}

  void launch(cudaStream_t stream, const ProductMemory& memory) override {
    emulator::enqueue(stream, "product", [problem = problem_, memory] {
      const EmulatedWorkspace workspace(memory.workspace, problem.rows * problem.columns);
      const std::vector<double> c = compute(problem, memory);
      const auto columns = static_cast<std::size_t>(problem.columns);
      for (std::size_t i = 0; i < c.size(); ++i) {
        const double sum = c[i] + (problem.bias ? memory.bias[i % columns] : 0.0F);
        workspace.sums()[i] = static_cast<float>(problem.relu ? std::max(sum, 0.0) : sum);
      }
      write_elements(workspace.sums(), problem.result, memory.c);
    });
  }

 private:
  ProductProblem problem_;
};

class EmulatedProducts final : public Products {
 public:
  std::vector<ProductChoice> choices(const ProductProblem& problem) override {
    if (problem.bias && problem.result != DType::f32) {
      return {};
    }
    const auto make = [problem] { return std::make_unique<EmulatedProductPlan>(problem); };
    const std::size_t bytes = EmulatedWorkspace::bytes(problem.rows * problem.columns);
    // The other algorithms exist so that a choice can be made or excluded.
    return {{.implementation = "emulated", .workspace_bytes = bytes, .make = make},
            {.implementation = "emulated:roomy", .workspace_bytes = 2 * bytes, .make = make},
            {.implementation = "emulated:inplace",
             .workspace_bytes = bytes,
             .deterministic = false,
             .make = make}};
  }
  [[nodiscard]] std::string version() const override { return "emulated"; }
};

}  // namespace

std::unique_ptr<Products> make_emulated_products() { return std::make_unique<EmulatedProducts>(); }

}  // namespace bench::cuda

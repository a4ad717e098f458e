#include "models/ops/loss.h"

#include "kernels/cases/cases.h"

namespace bench {
std::vector<KernelCase> l2_loss_cases() {
  return {{.name = "l2_loss_one",
           .op = &kL2Loss,
           .attributes = L2LossAttributes{.coefficient = 1e-4},
           .inputs = {{.shape = {16, 8, 3, 3}}},
           .fills = {{}},
           .weights = {0},
           .reduction = 1152},
          {.name = "l2_loss_many",
           .op = &kL2Loss,
           .attributes = L2LossAttributes{.coefficient = 4e-5},
           .inputs = {{.shape = {16, 3, 7, 7}},
                      {.shape = {13}},
                      {.shape = {5, 37}},
                      {.shape = {24, 16, 1, 1}}},
           .fills = {{}, {}, {}, {}},
           .weights = {0, 1, 2, 3},
           .reduction = 2934}};
}

}  // namespace bench

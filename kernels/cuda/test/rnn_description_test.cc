// cuDNN's descriptions of recurrent layers, which need no GPU.

#include "kernels/cuda/cudnn/rnn_description.h"

#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

RnnProblem layer(RnnCell cell, DType dtype) {
  return {.cell = cell, .dtype = dtype, .steps = 5, .batch = 4, .inputs = 24, .units = 32};
}

TEST(RnnDescription, IsAcceptedForEveryCellAndType) {
  for (const RnnCell cell :
       {RnnCell::relu, RnnCell::tanh, RnnCell::lstm, RnnCell::gru_reset_after}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      for (const std::int64_t directions : {1, 2}) {
        for (const bool training : {false, true}) {
          for (const bool tf32 : {false, true}) {
            RnnProblem problem = layer(cell, dtype);
            problem.directions = directions;
            problem.training = training;
            EXPECT_NO_THROW(RnnDescription(problem, tf32))
                << name_of(cell) << " in " << name_of(dtype) << ", " << directions
                << " directions, training: " << training << ", TF32: " << tf32;
          }
        }
      }
    }
  }
}

TEST(RnnDescription, IsRefusedWhereCudnnHasNoSuchLayer) {
  EXPECT_THROW(RnnDescription(layer(RnnCell::gru_reset_before, DType::f32), false), InternalError);
  RnnProblem empty = layer(RnnCell::lstm, DType::f32);
  empty.units = 0;
  EXPECT_THROW(RnnDescription(empty, false), DeviceError);
}

}  // namespace
}  // namespace bench::cuda

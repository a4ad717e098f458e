#include <gtest/gtest.h>

#include "kernels/onednn/onednn_backend.h"
#include "models/base/errors.h"
#include "models/ops/batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"

namespace bench {
namespace {

Node with_epilogue(const OpDef& op, Attributes attributes) {
  return {
      .name = "node", .op = &op, .attributes = std::move(attributes), .inputs = {}, .outputs = {}};
}

Support conv(Backend& backend, ActivationKind kind) {
  return backend.supports(
      {}, with_epilogue(kConv2d, Conv2dAttributes{.epilogue = {.activation = kind}}));
}

Support fully_connected(Backend& backend, ActivationKind kind) {
  const FullyConnectedAttributes attributes{.epilogue = {.activation = kind}};
  return backend.supports({}, with_epilogue(kFullyConnected, attributes));
}

Support batch_norm(Backend& backend, const OpDef& op, ActivationKind kind) {
  return backend.supports({},
                          with_epilogue(op, BatchNormAttributes{.epilogue = {.activation = kind}}));
}

TEST(OnednnBackend, FusesEveryActivationIntoAConvolution) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
  for (const auto kind :
       {ActivationKind::none, ActivationKind::relu, ActivationKind::relu6, ActivationKind::sigmoid,
        ActivationKind::tanh, ActivationKind::hard_sigmoid}) {
    EXPECT_TRUE(conv(*backend, kind));
    EXPECT_TRUE(fully_connected(*backend, kind));
  }
  EXPECT_EQ(conv(*backend, ActivationKind::silu).why_not, "onednn's conv2d cannot fuse silu");
  EXPECT_EQ(fully_connected(*backend, ActivationKind::hard_swish).why_not,
            "onednn's fully_connected cannot fuse hard_swish");
}

TEST(OnednnBackend, FusesOnlyReLUsIntoABatchNorm) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false, .max_isa = {}});
  for (const OpDef* op : {&kBatchNorm, &kBatchNormInference, &kBatchNormBackward}) {
    for (const auto kind : {ActivationKind::none, ActivationKind::relu, ActivationKind::relu6}) {
      EXPECT_TRUE(batch_norm(*backend, *op, kind));
    }
    for (const auto kind :
         {ActivationKind::sigmoid, ActivationKind::tanh, ActivationKind::hard_sigmoid,
          ActivationKind::silu, ActivationKind::hard_swish}) {
      EXPECT_EQ(batch_norm(*backend, *op, kind).why_not,
                fmt::format("onednn's {} cannot fuse {}", op->name, name_of(kind)));
    }
  }
}

}  // namespace
}  // namespace bench

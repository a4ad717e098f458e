#include "kernels/onednn/rnn_primitives.h"

#include "kernels/onednn/isa.h"
#include "kernels/onednn/primitive_kernel.h"
#include "models/base/errors.h"

namespace bench::onednn {
namespace {

using dnnl::prop_kind;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;
using PrimitiveDesc = dnnl::primitive_desc_base;

/// The memory descriptors of a layer or of its gradients.
struct RnnDescs {
  Desc x;
  Desc w_x;
  Desc w_h;
  Desc bias;
  Desc y;
  Desc h;
  /// Only for LSTM.
  Desc c;
};

RnnDescs rnn_descs(const RnnLayer& layer, Type type, Tag weights) {
  const std::int64_t units = layer.units;
  return {.x = {{layer.steps, layer.batch, layer.inputs}, type, Tag::tnc},
          .w_x = {{1, layer.directions, layer.inputs, layer.gates, units}, type, weights},
          .w_h = {{1, layer.directions, units, layer.gates, units}, type, weights},
          .bias = {{1, layer.directions, layer.biases(), units}, Type::f32, Tag::ldgo},
          .y = {{layer.steps, layer.batch, layer.directions * units}, type, Tag::tnc},
          .h = {{1, layer.directions, layer.batch, units}, type, Tag::ldnc},
          .c = {{1, layer.directions, layer.batch, units}, Type::f32, Tag::ldnc}};
}

dnnl::algorithm activation_of(RnnCell cell) {
  return cell == RnnCell::relu ? dnnl::algorithm::eltwise_relu : dnnl::algorithm::eltwise_tanh;
}

dnnl::rnn_direction direction_of(const RnnLayer& layer) {
  return layer.directions == 2 ? dnnl::rnn_direction::bidirectional_concat
                               : dnnl::rnn_direction::unidirectional_left2right;
}

template <class Forward>
typename Forward::primitive_desc forward_of(const Context& context, const RnnLayer& layer,
                                            prop_kind kind, const RnnDescs& d) {
  constexpr bool kAllowEmpty = true;
  const Desc none;
  const auto direction = direction_of(layer);
  const auto attributes = base_attributes();
  if constexpr (std::is_same_v<Forward, dnnl::vanilla_rnn_forward>) {
    return {context.engine,
            kind,
            activation_of(layer.attributes.cell),
            direction,
            d.x,
            d.h,
            d.w_x,
            d.w_h,
            d.bias,
            d.y,
            none,
            attributes,
            kAllowEmpty};
  } else if constexpr (std::is_same_v<Forward, dnnl::lstm_forward>) {
    return {context.engine, kind,   direction, d.x,  d.h,  d.c,        d.w_x,
            d.w_h,          d.bias, d.y,       none, none, attributes, kAllowEmpty};
  } else {
    return {context.engine, kind,   direction, d.x,  d.h,        d.w_x,
            d.w_h,          d.bias, d.y,       none, attributes, kAllowEmpty};
  }
}

/// `d` has the forward's tensors with the weights as the backward reads them, `g` the gradients.
template <class Backward, class Hint>
typename Backward::primitive_desc backward_of(const Context& context, const RnnLayer& layer,
                                              const RnnDescs& d, const RnnDescs& g,
                                              const Hint& hint) {
  constexpr bool kAllowEmpty = true;
  const Desc none;
  const auto kind = prop_kind::backward;
  const auto direction = direction_of(layer);
  const auto attributes = base_attributes();
  if constexpr (std::is_same_v<Backward, dnnl::vanilla_rnn_backward>) {
    return {context.engine,
            kind,
            activation_of(layer.attributes.cell),
            direction,
            d.x,
            d.h,
            d.w_x,
            d.w_h,
            d.bias,
            d.y,
            none,
            g.x,
            g.h,
            g.w_x,
            g.w_h,
            g.bias,
            g.y,
            none,
            hint,
            attributes,
            kAllowEmpty};
  } else if constexpr (std::is_same_v<Backward, dnnl::lstm_backward>) {
    return {context.engine, kind,   direction, d.x,  d.h,  d.c,  d.w_x,      d.w_h,
            d.bias,         d.y,    none,      none, g.x,  g.h,  g.c,        g.w_x,
            g.w_h,          g.bias, g.y,       none, none, hint, attributes, kAllowEmpty};
  } else {
    return {context.engine, kind, direction, d.x,  d.h,        d.w_x,      d.w_h,
            d.bias,         d.y,  none,      g.x,  g.h,        g.w_x,      g.w_h,
            g.bias,         g.y,  none,      hint, attributes, kAllowEmpty};
  }
}

/// Calls visit<Forward, Backward>() with oneDNN's primitives for the cell.
template <class Visit>
PrimitiveDesc for_cell(RnnCell cell, const Visit& visit) {
  switch (cell) {
    case RnnCell::relu:
    case RnnCell::tanh:
      return visit.template operator()<dnnl::vanilla_rnn_forward, dnnl::vanilla_rnn_backward>();
    case RnnCell::lstm:
      return visit.template operator()<dnnl::lstm_forward, dnnl::lstm_backward>();
    case RnnCell::gru_reset_before:
      return visit.template operator()<dnnl::gru_forward, dnnl::gru_backward>();
    case RnnCell::gru_reset_after:
      return visit.template operator()<dnnl::lbr_gru_forward, dnnl::lbr_gru_backward>();
  }
  throw InternalError("unknown cell");
}

bool is_plain(const Desc& desc) {
  return desc.get_format_kind() == dnnl::memory::format_kind::blocked;
}

/// True if training in 16 bits reads row-major weights, with which oneDNN uses its GEMM. Otherwise
/// it uses brgemm, which adds to the weights' gradient in memory at every step. A small batch does
/// little work per byte. On Zen 4, with 650 and 800 units, both are equal at a batch of about 48.
/// AMX was not measured.
bool trains_with_gemm(const RnnLayer& layer) {
  constexpr std::int64_t kEqualBatch = 48;
  return is_half(layer.dtype) && layer.batch < kEqualBatch &&
         !has_isa(dnnl::cpu_isa::avx512_core_amx);
}

/// With weights in the layout that oneDNN prefers, or row-major by inputs if it is opaque.
template <class Forward>
typename Forward::primitive_desc choose_forward(const Context& context, const RnnLayer& layer,
                                                prop_kind kind) {
  const Type type = data_type(layer.dtype);
  // Packed weights have no strides and no blocks. In oneDNN 3.2 they also crash inference in bf16
  // (SIGFPE) on processors without instructions for bf16.
  const Tag preferred =
      kind == prop_kind::forward_training && trains_with_gemm(layer) ? Tag::ldigo : Tag::any;
  auto desc = forward_of<Forward>(context, layer, kind, rnn_descs(layer, type, preferred));
  return desc && is_plain(desc.weights_layer_desc()) && is_plain(desc.weights_iter_desc())
             ? desc
             : forward_of<Forward>(context, layer, kind, rnn_descs(layer, type, Tag::ldigo));
}

}  // namespace

PrimitiveDesc rnn_forward_primitive(const Context& context, const RnnLayer& layer, bool training) {
  const prop_kind kind = training ? prop_kind::forward_training : prop_kind::forward_inference;
  return for_cell(layer.attributes.cell, [&]<class Forward, class Backward>() -> PrimitiveDesc {
    return choose_forward<Forward>(context, layer, kind);
  });
}

PrimitiveDesc rnn_backward_primitive(const Context& context, const RnnLayer& layer) {
  return for_cell(layer.attributes.cell, [&]<class Forward, class Backward>() -> PrimitiveDesc {
    return backward_of<Backward>(
        context, layer,
        rnn_descs(layer, data_type(layer.dtype), trains_with_gemm(layer) ? Tag::ldgoi : Tag::any),
        rnn_descs(layer, Type::f32, Tag::any),
        choose_forward<Forward>(context, layer, prop_kind::forward_training));
  });
}

}  // namespace bench::onednn

#include "kernels/cpu/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"
// Behind vector-inl.h, which includes highway first.
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr float kSixth = 1.0F / 6.0F;

/// 1 / (1 + exp(-x)), by the exponential of -|x|, which cannot overflow.
HWY_INLINE Vector sigmoid(Vector x) {
  const F32 d;
  const Vector one = hn::Set(d, 1.0F);
  const Vector small = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const Vector numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one);
  // Exp takes a NaN for a very small number.
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(numerator, hn::Add(one, small)));
}

HWY_INLINE Vector hyperbolic_tangent(Vector x) {
  // hn::Tanh does not propagate NaN.
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(F32(), x));
}

HWY_INLINE Vector hard_sigmoid(Vector x) {
  const F32 d;
  return hn::Mul(relu6(hn::Add(x, hn::Set(d, 3.0F))), hn::Set(d, kSixth));
}

/// sigmoid(x) * (1 + x * (1 - sigmoid(x))).
HWY_INLINE Vector silu_slope(Vector x) {
  const Vector one = hn::Set(F32(), 1.0F);
  const Vector s = sigmoid(x);
  return hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one));
}

/// (2x + 3) / 6 between -3 and 3, 0 below, 1 above.
HWY_INLINE Vector hard_swish_slope(Vector x) {
  const F32 d;
  const Vector three = hn::Set(d, 3.0F);
  const Vector inside = hn::Mul(hn::Add(hn::Add(x, x), three), hn::Set(d, kSixth));
  const Vector capped = hn::IfThenElse(hn::Ge(x, three), hn::Set(d, 1.0F), inside);
  return hn::IfThenZeroElse(hn::Le(x, hn::Neg(three)), capped);
}

/// y = f(x).
template <class T, class F>
HWY_INLINE void map(const Activation& args, Range range, const F& f) {
  const T* const x = static_cast<const T*>(args.x) + range.begin;
  T* const y = static_cast<T*>(args.y) + range.begin;
  sweep(static_cast<std::size_t>(range.count()),
        [&](std::size_t i, auto lanes) HWY_ATTR { store(f(load(x + i, lanes)), y + i, lanes); });
}

template <class T>
void activation_range_of(const Activation& args, Range range) {
  switch (args.kind) {
    case ActivationKind::none:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return x; });
    case ActivationKind::relu:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return relu(x); });
    case ActivationKind::relu6:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return relu6(x); });
    case ActivationKind::sigmoid:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return sigmoid(x); });
    case ActivationKind::tanh:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return hyperbolic_tangent(x); });
    case ActivationKind::hard_sigmoid:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return hard_sigmoid(x); });
    case ActivationKind::silu:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return hn::Mul(x, sigmoid(x)); });
    case ActivationKind::hard_swish:
      return map<T>(args, range, [](Vector x) HWY_ATTR { return hn::Mul(x, hard_sigmoid(x)); });
  }
}

void activation_range(const Activation& args, Range range) {
  with_element(args.dtype,
               [&](auto type) HWY_ATTR { activation_range_of<decltype(type)>(args, range); });
}

/// dx = f(dy, v).
template <class T, class F>
HWY_INLINE void map_backward(const ActivationBackward& args, Range range, const F& f) {
  const T* const dy = static_cast<const T*>(args.dy) + range.begin;
  const T* const v = static_cast<const T*>(args.v) + range.begin;
  T* const dx = static_cast<T*>(args.dx) + range.begin;
  sweep(static_cast<std::size_t>(range.count()), [&](std::size_t i, auto lanes) HWY_ATTR {
    store(f(load(dy + i, lanes), load(v + i, lanes)), dx + i, lanes);
  });
}

template <class T>
void activation_backward_range_of(const ActivationBackward& args, Range range) {
  switch (args.kind) {
    case ActivationKind::none:
      return map_backward<T>(args, range, [](Vector dy, Vector) HWY_ATTR { return dy; });
    case ActivationKind::relu:
      return map_backward<T>(args, range,
                             [](Vector dy, Vector y) HWY_ATTR { return where_positive(y, dy); });
    case ActivationKind::relu6:
      return map_backward<T>(args, range,
                             [](Vector dy, Vector y) HWY_ATTR { return where_below(y, 6.0F, dy); });
    case ActivationKind::sigmoid:
      return map_backward<T>(args, range, [](Vector dy, Vector y) HWY_ATTR {
        return hn::Mul(dy, hn::Mul(y, hn::Sub(hn::Set(F32(), 1.0F), y)));
      });
    case ActivationKind::tanh:
      return map_backward<T>(args, range, [](Vector dy, Vector y) HWY_ATTR {
        return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(F32(), 1.0F)));
      });
    case ActivationKind::hard_sigmoid:
      return map_backward<T>(args, range, [](Vector dy, Vector y) HWY_ATTR {
        return where_below(y, 1.0F, hn::Mul(dy, hn::Set(F32(), kSixth)));
      });
    case ActivationKind::silu:
      return map_backward<T>(
          args, range, [](Vector dy, Vector x) HWY_ATTR { return hn::Mul(dy, silu_slope(x)); });
    case ActivationKind::hard_swish:
      return map_backward<T>(args, range, [](Vector dy, Vector x) HWY_ATTR {
        return hn::Mul(dy, hard_swish_slope(x));
      });
  }
}

void activation_backward_range(const ActivationBackward& args, Range range) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    activation_backward_range_of<decltype(type)>(args, range);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(activation_range);
HWY_EXPORT(activation_backward_range);

void activation(ThreadTeam& team, const Activation& args) {
  team.for_ranges(args.count, kElementGrain, [&](Range range) {
    HWY_DYNAMIC_DISPATCH(activation_range)(args, range);
  });
}

void activation_backward(ThreadTeam& team, const ActivationBackward& args) {
  team.for_ranges(args.count, kElementGrain, [&](Range range) {
    HWY_DYNAMIC_DISPATCH(activation_backward_range)(args, range);
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE

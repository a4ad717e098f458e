#include "kernels/cpu/channel_passes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/channel_passes.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE constexpr std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

template <class T, bool kPlane>
void add_shifted_moments_of(const T* x, RowBlock block, const Accumulators& sums) {
  traverse<kPlane>(size(block.rows), size(block.width),
                   [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                       std::size_t stride) HWY_ATTR {
                     const Vector shift = channel_value<kPlane>(sums.shift, column, lanes);
                     const T* const from = x + offset;
                     Vector first = load(sums.first + column, lanes);
                     Vector second = load(sums.second + column, lanes);
                     const Vector a = hn::Sub(load(from, lanes), shift);
                     if constexpr (vectors == 4) {
                       const Vector b = hn::Sub(load(from + stride, lanes), shift);
                       const Vector c = hn::Sub(load(from + 2 * stride, lanes), shift);
                       const Vector e = hn::Sub(load(from + 3 * stride, lanes), shift);
                       first = hn::Add(first, hn::Add(hn::Add(a, b), hn::Add(c, e)));
                       second = hn::Add(second, hn::Add(hn::MulAdd(a, a, hn::Mul(b, b)),
                                                        hn::MulAdd(c, c, hn::Mul(e, e))));
                     } else {
                       first = hn::Add(first, a);
                       second = hn::MulAdd(a, a, second);
                     }
                     store(first, sums.first + column, lanes);
                     store(second, sums.second + column, lanes);
                   });
}

template <class T, bool kPlane>
void add_sums_of(const T* x, RowBlock block, float* sums) {
  traverse<kPlane>(size(block.rows), size(block.width),
                   [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                       std::size_t stride) HWY_ATTR {
                     const T* const from = x + offset;
                     Vector sum = load(from, lanes);
                     if constexpr (vectors == 4) {
                       sum = hn::Add(
                           hn::Add(sum, load(from + stride, lanes)),
                           hn::Add(load(from + 2 * stride, lanes), load(from + 3 * stride, lanes)));
                     }
                     store(hn::Add(load(sums + column, lanes), sum), sums + column, lanes);
                   });
}

template <ActivationKind kActivation>
HWY_INLINE Vector activated(Vector y) {
  if constexpr (kActivation == ActivationKind::relu) {
    return relu(y);
  } else if constexpr (kActivation == ActivationKind::relu6) {
    return relu6(y);
  } else {
    return y;
  }
}

/// `dy` where the activation with output `y` has the slope 1, else 0.
template <ActivationKind kActivation>
HWY_INLINE Vector masked(Vector y, Vector dy) {
  if constexpr (kActivation == ActivationKind::relu6) {
    return where_below(y, 6.0F, dy);
  } else {
    return where_positive(y, dy);
  }
}

template <class T, bool kPlane, bool kResidual, ActivationKind kActivation>
void normalize_of(RowBlock block, const Normalize& args) {
  const auto* const x = static_cast<const T*>(args.x);
  const auto* const added = static_cast<const T*>(args.residual);
  auto* const to = static_cast<T*>(args.y);
  traverse<kPlane>(size(block.rows), size(block.width),
                   [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                       std::size_t stride) HWY_ATTR {
                     const Vector mean = channel_value<kPlane>(args.mean, column, lanes);
                     const Vector scale = channel_value<kPlane>(args.scale, column, lanes);
                     const Vector shift = channel_value<kPlane>(args.shift, column, lanes);
                     for (std::size_t q = 0; q < size(vectors); ++q) {
                       const std::size_t i = offset + q * stride;
                       Vector y = hn::MulAdd(hn::Sub(load(x + i, lanes), mean), scale, shift);
                       if constexpr (kResidual) {
                         y = hn::Add(y, load(added + i, lanes));
                       }
                       store(activated<kActivation>(y), to + i, lanes);
                     }
                   });
}

/// What becomes of dz.
enum class Store : std::uint8_t { no, yes, sum_of_two };

template <class T, bool kPlane, ActivationKind kActivation, Store kStore>
void add_gradient_sums_of(RowBlock block, const GradientSums& args) {
  const auto* const dy = static_cast<const T*>(args.dy);
  const auto* const second_dy = static_cast<const T*>(args.second_dy);
  const auto* const x = static_cast<const T*>(args.x);
  const auto* const y = static_cast<const T*>(args.y);
  auto* const to = static_cast<T*>(args.dz);
  traverse<kPlane>(
      size(block.rows), size(block.width),
      [&](auto vectors, std::size_t offset, std::size_t column, auto lanes, std::size_t stride)
          HWY_ATTR {
            const F32 d;
            const Vector mean = channel_value<kPlane>(args.mean, column, lanes);
            Vector first = hn::Zero(d);
            Vector second = hn::Zero(d);
            for (std::size_t q = 0; q < size(vectors); ++q) {
              const std::size_t i = offset + q * stride;
              Vector dz = load(dy + i, lanes);
              if constexpr (kStore == Store::sum_of_two) {
                dz = hn::Add(dz, load(second_dy + i, lanes));
              }
              if constexpr (kActivation != ActivationKind::none) {
                dz = masked<kActivation>(load(y + i, lanes), dz);
              }
              if constexpr (kStore != Store::no) {
                store(dz, to + i, lanes);
              }
              first = hn::Add(first, dz);
              second = hn::MulAdd(dz, hn::Sub(load(x + i, lanes), mean), second);
            }
            store(hn::Add(load(args.first + column, lanes), first), args.first + column, lanes);
            store(hn::Add(load(args.second + column, lanes), second), args.second + column, lanes);
          });
}

template <class T, bool kPlane, ActivationKind kActivation>
void input_gradient_of(RowBlock block, const InputGradient& args) {
  const auto* const dy = static_cast<const T*>(args.dy);
  const auto* const x = static_cast<const T*>(args.x);
  const auto* const y = static_cast<const T*>(args.y);
  auto* const to = static_cast<T*>(args.dx);
  traverse<kPlane>(
      size(block.rows), size(block.width),
      [&](auto vectors, std::size_t offset, std::size_t column, auto lanes, std::size_t stride)
          HWY_ATTR {
            const Vector mean = channel_value<kPlane>(args.mean, column, lanes);
            const Vector scale = channel_value<kPlane>(args.scale, column, lanes);
            const Vector slope = channel_value<kPlane>(args.slope, column, lanes);
            const Vector constant = channel_value<kPlane>(args.offset, column, lanes);
            for (std::size_t q = 0; q < size(vectors); ++q) {
              const std::size_t i = offset + q * stride;
              Vector dz = load(dy + i, lanes);
              if constexpr (kActivation != ActivationKind::none) {
                dz = masked<kActivation>(load(y + i, lanes), dz);
              }
              const Vector centred = hn::Sub(load(x + i, lanes), mean);
              const Vector dx = hn::NegMulAdd(slope, centred, hn::MulSub(scale, dz, constant));
              store(dx, to + i, lanes);
            }
          });
}

template <class T, bool kPlane>
void add_bias_of(RowBlock block, const AddBias& args) {
  const auto* const x = static_cast<const T*>(args.x);
  auto* const to = static_cast<T*>(args.y);
  traverse<kPlane>(size(block.rows), size(block.width),
                   [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                       std::size_t stride) HWY_ATTR {
                     const Vector bias = channel_value<kPlane>(args.bias, column, lanes);
                     for (std::size_t q = 0; q < size(vectors); ++q) {
                       const std::size_t i = offset + q * stride;
                       store(hn::Add(load(x + i, lanes), bias), to + i, lanes);
                     }
                   });
}

template <class T, bool kPlane>
void broadcast_of(RowBlock block, const Broadcast& args) {
  auto* const y = static_cast<T*>(args.y);
  traverse<kPlane>(size(block.rows), size(block.width),
                   [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                       std::size_t stride) HWY_ATTR {
                     const Vector value = channel_value<kPlane>(args.values, column, lanes);
                     for (std::size_t q = 0; q < size(vectors); ++q) {
                       store(value, y + offset + q * stride, lanes);
                     }
                   });
}

/// call(std::true_type) or call(std::false_type).
template <class Call>
void choose(bool value, const Call& call) {
  if (value) {
    call(std::true_type{});
  } else {
    call(std::false_type{});
  }
}

/// call(an element, whether the width is 1).
template <class Call>
void choose_form(DType dtype, RowBlock block, const Call& call) {
  with_element(dtype, [&](auto type) HWY_ATTR {
    choose(block.width == 1, [&](auto plane) HWY_ATTR { call(type, plane); });
  });
}

/// Calls call(integral constant) for the activation: none, ReLU or ReLU6.
template <class Call>
void choose_activation(ActivationKind kind, const Call& call) {
  if (kind == ActivationKind::relu6) {
    call(std::integral_constant<ActivationKind, ActivationKind::relu6>{});
  } else if (kind == ActivationKind::relu) {
    call(std::integral_constant<ActivationKind, ActivationKind::relu>{});
  } else {
    call(std::integral_constant<ActivationKind, ActivationKind::none>{});
  }
}

void add_shifted_moments_any(Elements x, RowBlock block, const Accumulators& sums) {
  choose_form(x.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    using T = decltype(type);
    add_shifted_moments_of<T, decltype(plane)::value>(static_cast<const T*>(x.data), block, sums);
  });
}

/// The sum of an accumulator's lanes, which it clears.
double take_lanes(float* sums) {
  double total = 0;
  for (std::size_t lane = 0; lane < hn::Lanes(F32()); ++lane) {
    total += static_cast<double>(sums[lane]);
    sums[lane] = 0;
  }
  return total;
}

void merge_moments_any(std::int64_t rows, std::int64_t width, const Accumulators& sums,
                       Moments& moments) {
  const auto added = static_cast<double>(rows);
  const auto before = static_cast<double>(moments.count);
  const double per_row = 1 / added;
  const double share = added / (before + added);
  const auto merge = [&](double first, double second, float& shift, double& mean, double& m2)
                         HWY_ATTR {
                           const double offset = first * per_row;
                           const double spread = second - first * offset;
                           const double delta = static_cast<double>(shift) + offset - mean;
                           mean += delta * share;
                           m2 += (spread < 0 ? 0 : spread) + delta * delta * before * share;
                           shift = static_cast<float>(mean);
                         };
  moments.count += rows;
  if (width == 1) {
    const double first = take_lanes(sums.first);
    merge(first, take_lanes(sums.second), *sums.shift, *moments.mean, *moments.m2);
    return;
  }
  float* HWY_RESTRICT first = sums.first;
  float* HWY_RESTRICT second = sums.second;
  float* HWY_RESTRICT shift = sums.shift;
  double* HWY_RESTRICT mean = moments.mean;
  double* HWY_RESTRICT m2 = moments.m2;
  for (std::size_t c = 0; c < size(width); ++c) {
    merge(static_cast<double>(first[c]), static_cast<double>(second[c]), shift[c], mean[c], m2[c]);
    first[c] = 0;
    second[c] = 0;
  }
}

void add_sums_any(Elements x, RowBlock block, float* first) {
  choose_form(x.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    using T = decltype(type);
    add_sums_of<T, decltype(plane)::value>(static_cast<const T*>(x.data), block, first);
  });
}

void flush_sums_any(std::int64_t width, float* first, double* total) {
  if (width == 1) {
    *total += take_lanes(first);
    return;
  }
  float* HWY_RESTRICT from = first;
  double* HWY_RESTRICT to = total;
  for (std::size_t c = 0; c < size(width); ++c) {
    to[c] += static_cast<double>(from[c]);
    from[c] = 0;
  }
}

void normalize_any(RowBlock block, const Normalize& args) {
  choose_form(args.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    choose(args.residual != nullptr, [&](auto residual) HWY_ATTR {
      choose_activation(args.activation, [&](auto kind) HWY_ATTR {
        normalize_of<decltype(type), decltype(plane)::value, decltype(residual)::value,
                     decltype(kind)::value>(block, args);
      });
    });
  });
}

/// call(integral constant) of what the arguments ask for.
template <class Call>
void choose_store(const GradientSums& args, const Call& call) {
  if (args.second_dy != nullptr) {
    call(std::integral_constant<Store, Store::sum_of_two>{});
  } else if (args.dz != nullptr) {
    call(std::integral_constant<Store, Store::yes>{});
  } else {
    call(std::integral_constant<Store, Store::no>{});
  }
}

void add_gradient_sums_any(RowBlock block, const GradientSums& args) {
  choose_form(args.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    choose_activation(args.activation, [&](auto kind) HWY_ATTR {
      choose_store(args, [&](auto store) HWY_ATTR {
        add_gradient_sums_of<decltype(type), decltype(plane)::value, decltype(kind)::value,
                             decltype(store)::value>(block, args);
      });
    });
  });
}

void input_gradient_any(RowBlock block, const InputGradient& args) {
  choose_form(args.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    choose_activation(args.activation, [&](auto kind) HWY_ATTR {
      input_gradient_of<decltype(type), decltype(plane)::value, decltype(kind)::value>(block, args);
    });
  });
}

void add_bias_any(RowBlock block, const AddBias& args) {
  choose_form(args.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    add_bias_of<decltype(type), decltype(plane)::value>(block, args);
  });
}

void broadcast_any(RowBlock block, const Broadcast& args) {
  choose_form(args.dtype, block, [&](auto type, auto plane) HWY_ATTR {
    broadcast_of<decltype(type), decltype(plane)::value>(block, args);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(add_shifted_moments_any);
HWY_EXPORT(merge_moments_any);
HWY_EXPORT(add_sums_any);
HWY_EXPORT(flush_sums_any);
HWY_EXPORT(normalize_any);
HWY_EXPORT(add_gradient_sums_any);
HWY_EXPORT(input_gradient_any);
HWY_EXPORT(add_bias_any);
HWY_EXPORT(broadcast_any);

void add_shifted_moments(Elements x, RowBlock block, const Accumulators& sums) {
  HWY_DYNAMIC_DISPATCH(add_shifted_moments_any)(x, block, sums);
}
void merge_moments(std::int64_t rows, std::int64_t width, const Accumulators& sums,
                   Moments& moments) {
  HWY_DYNAMIC_DISPATCH(merge_moments_any)(rows, width, sums, moments);
}
void add_sums(Elements x, RowBlock block, float* first) {
  HWY_DYNAMIC_DISPATCH(add_sums_any)(x, block, first);
}
void flush_sums(std::int64_t width, float* first, double* total) {
  HWY_DYNAMIC_DISPATCH(flush_sums_any)(width, first, total);
}
void normalize(RowBlock block, const Normalize& args) {
  HWY_DYNAMIC_DISPATCH(normalize_any)(block, args);
}
void add_gradient_sums(RowBlock block, const GradientSums& args) {
  HWY_DYNAMIC_DISPATCH(add_gradient_sums_any)(block, args);
}
void input_gradient(RowBlock block, const InputGradient& args) {
  HWY_DYNAMIC_DISPATCH(input_gradient_any)(block, args);
}
void add_bias(RowBlock block, const AddBias& args) {
  HWY_DYNAMIC_DISPATCH(add_bias_any)(block, args);
}
void broadcast(RowBlock block, const Broadcast& args) {
  HWY_DYNAMIC_DISPATCH(broadcast_any)(block, args);
}

}  // namespace bench::cpu
#endif  // HWY_ONCE

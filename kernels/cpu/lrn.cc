#include "kernels/cpu/lrn.h"

#include <algorithm>

#include "kernels/cpu/lrn_slab.h"
#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lrn.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"
// Behind vector-inl.h, which includes highway first.
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// body(place in the scratch arrays, place in the tensor, lanes) for all vectors of the slab.
template <class Body>
HWY_INLINE void for_vectors(const LrnSlab& slab, const Body& body) {
  for (std::int64_t line = 0; line < slab.lines; ++line) {
    const auto inside = static_cast<std::size_t>(slab.edge() + line * slab.length);
    const auto outside = static_cast<std::size_t>(line * slab.pitch);
    sweep(static_cast<std::size_t>(slab.length),
          [&](std::size_t i, auto lanes) HWY_ATTR { body(inside + i, outside + i, lanes); });
  }
}

/// The sum over the window's channels around place `at`.
template <class Lanes>
HWY_INLINE Vector window_sum(const float* scratch, const LrnSlab& slab, std::size_t at,
                             Lanes lanes) {
  const float* from = scratch + at - slab.edge();
  Vector sum = load(from, lanes);
  for (std::int64_t i = 0; i < 2 * slab.radius; ++i) {
    from += slab.step;
    sum = hn::Add(sum, load(from, lanes));
  }
  return sum;
}

/// value^exponent for positive values; a NaN stays.
HWY_INLINE Vector power(Vector value, float exponent) {
  const F32 d;
  const Vector raised = hn::Exp(d, hn::Mul(hn::Set(d, exponent), hn::Log(d, value)));
  return hn::IfThenElse(hn::IsNaN(value), value, raised);
}

template <class Lanes>
HWY_INLINE Vector divisor(const LrnAttributes& attributes, const float* squares,
                          const LrnSlab& slab, std::size_t at, Lanes lanes) {
  const F32 d;
  return hn::MulAdd(hn::Set(d, static_cast<float>(attributes.alpha)),
                    window_sum(squares, slab, at, lanes),
                    hn::Set(d, static_cast<float>(attributes.bias)));
}

template <class T>
HWY_INLINE void square_all(const T* x, const LrnSlab& slab, float* squares) {
  for_vectors(slab, [&](std::size_t in, std::size_t out, auto lanes) HWY_ATTR {
    const Vector value = load(x + out, lanes);
    store(hn::Mul(value, value), squares + in, lanes);
  });
}

/// `squares` is scratch whose edges are zero.
template <class T>
void lrn_slab_of(const Lrn& args, const LrnSlab& slab, std::int64_t offset, float* squares) {
  const T* const x = static_cast<const T*>(args.x) + offset;
  T* const y = static_cast<T*>(args.y) + offset;
  square_all(x, slab, squares);
  const auto exponent = static_cast<float>(-args.attributes.beta);
  for_vectors(slab, [&](std::size_t in, std::size_t out, auto lanes) HWY_ATTR {
    const Vector d = divisor(args.attributes, squares, slab, in, lanes);
    store(hn::Mul(load(x + out, lanes), power(d, exponent)), y + out, lanes);
  });
}

void lrn_slab(const Lrn& args, const LrnSlab& slab, std::int64_t offset, float* squares) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    lrn_slab_of<decltype(type)>(args, slab, offset, squares);
  });
}

/// dx_c = dy_c d_c^-beta - 2 alpha beta x_c sum over the channels i near c of dy_i x_i
/// d_i^(-beta-1), with the divisor d. `squares` and `terms` are scratch whose edges are zero.
template <class T>
void lrn_backward_slab_of(const LrnBackward& args, const LrnSlab& slab, std::int64_t offset,
                          float* squares, float* terms, float* powers) {
  const T* const x = static_cast<const T*>(args.x) + offset;
  const T* const dy = static_cast<const T*>(args.dy) + offset;
  T* const dx = static_cast<T*>(args.dx) + offset;
  square_all(x, slab, squares);
  const auto exponent = static_cast<float>(-args.attributes.beta);
  for_vectors(slab, [&](std::size_t in, std::size_t out, auto lanes) HWY_ATTR {
    const Vector d = divisor(args.attributes, squares, slab, in, lanes);
    const Vector direct = hn::Mul(load(dy + out, lanes), power(d, exponent));
    store(direct, powers + in, lanes);
    store(hn::Div(hn::Mul(direct, load(x + out, lanes)), d), terms + in, lanes);
  });
  const Vector factor =
      hn::Set(F32(), static_cast<float>(2 * args.attributes.alpha * args.attributes.beta));
  for_vectors(slab, [&](std::size_t in, std::size_t out, auto lanes) HWY_ATTR {
    const Vector around = window_sum(terms, slab, in, lanes);
    store(hn::NegMulAdd(hn::Mul(factor, load(x + out, lanes)), around, load(powers + in, lanes)),
          dx + out, lanes);
  });
}

void lrn_backward_slab(const LrnBackward& args, const LrnSlab& slab, std::int64_t offset,
                       float* squares, float* terms, float* powers) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    lrn_backward_slab_of<decltype(type)>(args, slab, offset, squares, terms, powers);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {
namespace {

/// Pixels per slab of nchw: a slab of some hundred channels stays in the second-level cache.
constexpr std::int64_t kSlabPixels = 64;
constexpr std::int64_t kScratchArrays = 3;

bool is_nchw(const ChannelView& view) { return view.kind == ChannelView::Kind::nchw; }

/// The slab of `pixels` pixels; nhwc has one each.
LrnSlab slab_of(const ChannelView& view, std::int64_t radius, std::int64_t pixels) {
  check(view.kind != ChannelView::Kind::blocked, "lrn: no kernel for blocked channels");
  if (is_nchw(view)) {
    return {.lines = view.channels,
            .length = pixels,
            .pitch = view.spatial,
            .step = pixels,
            .radius = radius};
  }
  return {.lines = 1, .length = view.channels, .pitch = 0, .step = 1, .radius = radius};
}

/// Elements of each of a thread's scratch arrays; whole cache lines.
std::int64_t scratch_elements(const ChannelView& view, std::int64_t radius) {
  constexpr std::int64_t kCacheLineFloats = 16;
  const std::int64_t most = slab_of(view, radius, std::min(view.spatial, kSlabPixels)).elements();
  return (most + kCacheLineFloats - 1) / kCacheLineFloats * kCacheLineFloats;
}

/// Calls work(slab, offset, scratch) for all slabs, split among the threads; `scratch` points at
/// kScratchArrays arrays, the first two of them with zero edges.
template <class Work>
void for_slabs(ThreadTeam& team, const ChannelView& view, std::int64_t radius, void* workspace,
               const Work& work) {
  check(workspace != nullptr, "lrn: needs its workspace");
  const std::int64_t tile = is_nchw(view) ? kSlabPixels : 1;
  const std::int64_t tiles = (view.spatial + tile - 1) / tile;
  const std::int64_t size = scratch_elements(view, radius);
  team.parallel([&](int thread) {
    float* const scratch = static_cast<float*>(workspace) + thread * kScratchArrays * size;
    const Range mine = ThreadTeam::split(view.batch * tiles, team.size(), thread);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      const std::int64_t pixel = i % tiles * tile;
      const LrnSlab slab = slab_of(view, radius, std::min(tile, view.spatial - pixel));
      for (float* const array : {scratch, scratch + size}) {
        std::fill_n(array, slab.edge(), 0.0F);
        std::fill_n(array + slab.elements() - slab.edge(), slab.edge(), 0.0F);
      }
      const std::int64_t sample = i / tiles * view.channels * view.spatial;
      work(slab, sample + (is_nchw(view) ? pixel : pixel * view.channels), scratch);
    }
  });
}

}  // namespace

HWY_EXPORT(lrn_slab);
HWY_EXPORT(lrn_backward_slab);

std::size_t lrn_workspace_bytes(const ChannelView& view, const LrnAttributes& attributes,
                                int threads) {
  return static_cast<std::size_t>(threads * kScratchArrays *
                                  scratch_elements(view, attributes.radius)) *
         sizeof(float);
}

void lrn(ThreadTeam& team, const Lrn& args) {
  for_slabs(team, args.view, args.attributes.radius, args.workspace,
            [&](const LrnSlab& slab, std::int64_t offset, float* scratch) {
              HWY_DYNAMIC_DISPATCH(lrn_slab)(args, slab, offset, scratch);
            });
}

void lrn_backward(ThreadTeam& team, const LrnBackward& args) {
  const std::int64_t size = scratch_elements(args.view, args.attributes.radius);
  for_slabs(team, args.view, args.attributes.radius, args.workspace,
            [&](const LrnSlab& slab, std::int64_t offset, float* scratch) {
              HWY_DYNAMIC_DISPATCH(lrn_backward_slab)
              (args, slab, offset, scratch, scratch + size, scratch + 2 * size);
            });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE

#include "kernels/cuda/gpu/random.h"

#include <cmath>

#include "kernels/cuda/gpu/divisor.h"
#include "kernels/cuda/gpu/element.h"

namespace bench::cuda {
namespace {

constexpr int kLanes = 256;
/// Elements that share a counter of the generator, one word each.
constexpr int kWords = 4;

struct Words {
  std::uint32_t values[kWords];
};

/// The components of the counters and keys of models/ops/dropout.h.
struct Source {
  std::uint32_t seed_low;
  std::uint32_t stream_low;
  std::uint32_t stream_high;
};

Source source_of(std::uint64_t seed, std::uint64_t stream) {
  return {.seed_low = static_cast<std::uint32_t>(seed),
          .stream_low = static_cast<std::uint32_t>(stream),
          .stream_high = static_cast<std::uint32_t>(stream >> 32U)};
}

/// The words of the elements from kWords * block on: Philox4x32-10, as in models/base/philox.h.
__device__ Words draw(const Source& source, std::int32_t step, std::uint64_t block) {
  constexpr int kRounds = 10;
  auto a = static_cast<std::uint32_t>(block);
  auto b = static_cast<std::uint32_t>(block >> 32U);
  std::uint32_t c = source.stream_low;
  auto d = static_cast<std::uint32_t>(step);
  std::uint32_t first_key = source.seed_low;
  std::uint32_t second_key = source.stream_high;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t a_upper = __umulhi(a, 0xD2511F53U);
    const std::uint32_t a_lower = a * 0xD2511F53U;
    const std::uint32_t c_upper = __umulhi(c, 0xCD9E8D57U);
    const std::uint32_t c_lower = c * 0xCD9E8D57U;
    a = c_upper ^ b ^ first_key;
    b = c_lower;
    c = a_upper ^ d ^ second_key;
    d = a_lower;
    first_key += 0x9E3779B9U;
    second_key += 0xBB67AE85U;
  }
  return {{a, b, c, d}};
}

/// Decides which elements to keep, and the factor for them.
struct Choice {
  Source source;
  /// For a whole number u, u / 2^24 < keep means u < ceil(keep * 2^24).
  std::uint32_t threshold;
  float scale;
  /// The position in the joined batch.
  std::uint64_t first_element;
};

/// Draws `blocks` counters for the elements from kWords * block on: bit i is set if element i is
/// kept.
template <int kBlocks>
__device__ std::uint32_t draw_kept(const Choice& choice, std::int32_t step, std::uint64_t block) {
  std::uint32_t kept = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const Words words = draw(choice.source, step, block + static_cast<unsigned>(i));
    for (int word = 0; word < kWords; ++word) {
      const std::uint32_t stays = words.values[word] >> 8U < choice.threshold ? 1 : 0;
      kept |= stays << static_cast<unsigned>(i * kWords + word);
    }
  }
  return kept;
}

/// 0 for a dropped element, whatever its value.
template <class T>
__device__ T dropped_out(T value, bool stays, float scale) {
  return narrowed<T>(stays ? widened(value) * scale : 0.0F);
}

/// Processes elements in canonical order.
template <class T>
__global__ void dropout_line_kernel(Choice choice, const std::int32_t* step, std::int64_t count,
                                    const T* x, T* y) {
  constexpr int n = kWidest<T>;
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kLanes + threadIdx.x) * n;
  if (first >= count) {
    return;
  }
  std::uint32_t kept = ~0U;
  float scale = 1.0F;
  if (*step >= 0) {
    const std::uint64_t element = choice.first_element + static_cast<std::uint64_t>(first);
    const auto shift = static_cast<unsigned>(element % kWords);
    // If a pack does not begin at a counter's first element, its last elements use the next
    // counter.
    kept = shift == 0 ? draw_kept<n / kWords>(choice, *step, element / kWords)
                      : draw_kept<n / kWords + 1>(choice, *step, element / kWords) >> shift;
    scale = choice.scale;
  }
  if (first + n <= count) {
    Pack<T, n> pack = load_pack<n>(x + first);
    for (int i = 0; i < n; ++i) {
      pack.values[i] = dropped_out(pack.values[i], (kept >> i & 1U) != 0, scale);
    }
    store_pack(y + first, pack);
    return;
  }
  for (std::int64_t i = first; i < count; ++i, kept >>= 1U) {
    y[i] = dropped_out(x[i], (kept & 1U) != 0, scale);
  }
}

/// Counters that a lane of dropout_pixels_kernel draws for each of its channels.
constexpr int kDraws = 4;

/// How lanes share the pixels and channels of an NHWC tensor.
struct Deal {
  std::int64_t lanes;
  std::int64_t channels;
  std::int64_t spatial;
  /// Neighbouring pixels per lane. kDraws counters provide their bits, wherever the first pixel's
  /// bit is among its counter's words.
  int pixels;
  /// Ranges of pixels in an image, and packs of channels in a pixel.
  Divisor ranges;
  Divisor packs;
};

/// Processes an NHWC tensor: canonical neighbours are neighbouring pixels of one channel. A lane
/// handles n neighbouring channels.
template <class T, int n>
__global__ void dropout_pixels_kernel(Choice choice, const std::int32_t* step, Deal deal,
                                      const T* x, T* y) {
  const std::int64_t lane = static_cast<std::int64_t>(blockIdx.x) * kLanes + threadIdx.x;
  if (lane >= deal.lanes) {
    return;
  }
  const Divisor::Split by_pack = deal.packs.split(lane);
  const Divisor::Split by_range = deal.ranges.split(by_pack.quotient);
  const std::int64_t image = by_range.quotient;
  const std::int64_t pixel = std::int64_t{by_range.remainder} * deal.pixels;
  const std::int64_t channel = std::int64_t{by_pack.remainder} * n;
  std::uint32_t kept[n];
  for (int i = 0; i < n; ++i) {
    kept[i] = ~0U;
  }
  float scale = 1.0F;
  if (*step >= 0) {
    for (int i = 0; i < n; ++i) {
      const std::int64_t first = (image * deal.channels + channel + i) * deal.spatial + pixel;
      const std::uint64_t element = choice.first_element + static_cast<std::uint64_t>(first);
      const std::uint32_t drawn = draw_kept<kDraws>(choice, *step, element / kWords);
      kept[i] = drawn >> static_cast<unsigned>(element % kWords);
    }
    scale = choice.scale;
  }
  const std::int64_t left = deal.spatial - pixel;
  std::int64_t place = (image * deal.spatial + pixel) * deal.channels + channel;
  for (int p = 0; p < deal.pixels && p < left; ++p, place += deal.channels) {
    Pack<T, n> pack = load_pack<n>(x + place);
    for (int i = 0; i < n; ++i) {
      pack.values[i] = dropped_out(pack.values[i], (kept[i] >> p & 1U) != 0, scale);
    }
    store_pack(y + place, pack);
  }
}

template <class T, int n>
void dropout_pixels(cudaStream_t stream, const Dropout& args, const Choice& choice) {
  const View& view = args.view;
  const bool aligned = view.spatial % kWords == 0 && choice.first_element % kWords == 0;
  const int pixels = aligned ? kDraws * kWords : kDraws * kWords - kWords;
  const std::int64_t ranges = (view.spatial + pixels - 1) / pixels;
  const std::int64_t packs = view.channels / n;
  const Deal deal{.lanes = view.batch * ranges * packs,
                  .channels = view.channels,
                  .spatial = view.spatial,
                  .pixels = pixels,
                  .ranges = Divisor(ranges),
                  .packs = Divisor(packs)};
  launch(stream, {"dropout", dim3(blocks_for(deal.lanes, kLanes)), dim3(kLanes)},
         dropout_pixels_kernel<T, n>, choice, args.step, deal, static_cast<const T*>(args.x),
         static_cast<T*>(args.y));
}

/// The parameters that decide whether drop_path keeps an example.
struct Path {
  Source source;
  /// 1 - keep at the end of the ramp.
  double dropped;
  /// 0 disables the ramp.
  double ramp_steps;
  /// The position in the joined batch.
  std::uint64_t first_example;
};

/// An example's factor: 0, or 1 / k. Uses the same f64 operations as keep_probability and the CPU,
/// each rounded separately.
__device__ float path_factor(const Path& path, std::int32_t step, std::int64_t example) {
  if (step < 0) {
    return 1.0F;
  }
  const double ramp = path.ramp_steps > 0 ? min(1.0, step / path.ramp_steps) : 1.0;
  // Otherwise a compiler fuses the product and the difference.
  const volatile double product = ramp * path.dropped;
  const double keep = 1 - product;
  const std::uint64_t index = path.first_example + static_cast<std::uint64_t>(example);
  const Words words = draw(path.source, step, index / kWords);
  const auto word = static_cast<unsigned>(index % kWords);
  // An array in registers cannot be indexed at run time.
  const std::uint32_t low = word == 0 ? words.values[0] : words.values[1];
  const std::uint32_t high = word == 2 ? words.values[2] : words.values[3];
  const std::uint32_t drawn = (word < 2 ? low : high) >> 8U;
  return drawn < keep * 0x1.0p24 ? static_cast<float>(1 / keep) : 0.0F;
}

constexpr int kPacksPerLane = 4;

/// A block handles a part of one example, in packs of n.
template <class T, int n>
__global__ void drop_path_kernel(Path path, const std::int32_t* step, std::int64_t elements,
                                 Divisor parts, const T* x, T* y) {
  BENCH_SHARED(float, shared_factor[1]);
  const Divisor::Split part = parts.split(blockIdx.x);
  if (threadIdx.x == 0) {
    shared_factor[0] = path_factor(path, *step, part.quotient);
  }
  __syncthreads();
  const float factor = shared_factor[0];
  constexpr std::int64_t kStep = std::int64_t{kLanes} * n;
  std::int64_t at = part.remainder * kStep * kPacksPerLane + std::int64_t{threadIdx.x} * n;
  const std::int64_t start = part.quotient * elements;
  for (int i = 0; i < kPacksPerLane && at < elements; ++i, at += kStep) {
    Pack<T, n> pack = load_pack<n>(x + start + at);
    for (int j = 0; j < n; ++j) {
      pack.values[j] = dropped_out(pack.values[j], factor != 0.0F, factor);
    }
    store_pack(y + start + at, pack);
  }
}

template <class T, int n>
void drop_path_in_packs(cudaStream_t stream, const DropPath& args) {
  const Path path{.source = source_of(args.attributes.seed, args.attributes.stream),
                  .dropped = 1 - args.attributes.keep,
                  .ramp_steps = static_cast<double>(args.attributes.ramp_steps),
                  .first_example = args.attributes.first_example};
  const std::int64_t parts = blocks_for(args.elements, std::int64_t{kLanes} * n * kPacksPerLane);
  launch(stream, {"drop_path", dim3(blocks_for(args.examples * parts, 1)), dim3(kLanes)},
         drop_path_kernel<T, n>, path, args.step, args.elements, Divisor(parts),
         static_cast<const T*>(args.x), static_cast<T*>(args.y));
}

}  // namespace

void dropout(cudaStream_t stream, const Dropout& args) {
  const Choice choice{
      .source = source_of(args.attributes.seed, args.attributes.stream),
      .threshold = static_cast<std::uint32_t>(std::ceil(args.attributes.keep * 0x1.0p24)),
      .scale = static_cast<float>(1 / args.attributes.keep),
      .first_element = args.attributes.first_element};
  const View& view = args.view;
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (view.order == Order::nhwc && view.spatial > 1 && view.channels > 1) {
      return view.channels % kWidest<T> == 0 ? dropout_pixels<T, kWidest<T>>(stream, args, choice)
                                             : dropout_pixels<T, 1>(stream, args, choice);
    }
    const std::int64_t count = view.elements();
    launch(stream, {"dropout", dim3(blocks_for(count, kLanes * kWidest<T>)), dim3(kLanes)},
           dropout_line_kernel<T>, choice, args.step, count, static_cast<const T*>(args.x),
           static_cast<T*>(args.y));
  });
}

void drop_path(cudaStream_t stream, const DropPath& args) {
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return args.elements % kWidest<T> == 0 ? drop_path_in_packs<T, kWidest<T>>(stream, args)
                                           : drop_path_in_packs<T, 1>(stream, args);
  });
}

}  // namespace bench::cuda

#include "kernels/cuda/gpu/optimizer.h"

#include "kernels/cuda/gpu/block_reduction.h"
#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/optimizer_rules.h"

namespace bench::cuda {
namespace {

constexpr unsigned kLanes = 256;
constexpr int kPack = kWidest<float>;
constexpr float kLargestFinite = std::numeric_limits<float>::max();

/// The arguments of update_kernel apart from the rule.
struct UpdateArguments {
  OptimizerTables tables;
  float weight_decay;
  float clip;
  float* variables;
  const float* gradients;
  const float* decaying;
  float* slots[kMostOptimizerSlots];
  void* copies;
  const StepState* state;
};

/// Calls body(pack size, place in the regions) for this lane's part of a chunk. Packs are full if
/// the chunk begins at a multiple of them.
template <class Body>
__device__ void for_my_elements(const OptimizerChunk& chunk, const Body& body) {
  const int whole = chunk.begin % kPack == 0 ? chunk.count - chunk.count % kPack : 0;
  for (int i = static_cast<int>(threadIdx.x) * kPack; i < whole;
       i += static_cast<int>(blockDim.x) * kPack) {
    body(std::integral_constant<int, kPack>{}, chunk.begin + i);
  }
  for (int i = whole + static_cast<int>(threadIdx.x); i < chunk.count;
       i += static_cast<int>(blockDim.x)) {
    body(std::integral_constant<int, 1>{}, chunk.begin + i);
  }
}

/// Rounds adjacent elements from `place` in the regions.
template <class T, int N>
__device__ void renew(const OptimizerCopy& copy, T* copies, std::int64_t place,
                      const Pack<float, N>& variables) {
  Pack<T, N> rounded;
  for (int j = 0; j < N; ++j) {
    rounded.values[j] = narrowed<T>(variables.values[j]);
  }
  const std::int64_t first = place - copy.segment;
  if (copy.tiles == nullptr && (copy.copy + first) % N == 0) {
    store_pack(copies + copy.copy + first, rounded);
    return;
  }
  for (int j = 0; j < N; ++j) {
    std::int64_t to = first + j;
    if (copy.tiles != nullptr) {
      const std::int64_t tile = to >> copy.tile_bits;
      const std::int64_t within = to - (tile << copy.tile_bits);
      to = (std::int64_t{copy.tiles[tile]} << copy.tile_bits) + copy.places[within];
    }
    copies[copy.copy + to] = rounded.values[j];
  }
}

template <class Rule>
__global__ void __launch_bounds__(kLanes)
    update_kernel(const UpdateArguments arguments, const Rule rule) {
  if (arguments.state->finite == 0) {
    return;
  }
  BENCH_SHARED(float, scalars[2]);
  if (threadIdx.x == 0) {
    const UpdateScalars given = scalars_of(*arguments.state);
    scalars[0] = rule.rate(given);
    if (arguments.tables.rate_factors != nullptr) {
      scalars[0] *= arguments.tables.rate_factors[arguments.tables.chunks[blockIdx.x].segment];
    }
    scalars[1] = static_cast<float>(given.gradient_scale);
  }
  __syncthreads();
  const float rate = scalars[0];
  const float gradient_scale = scalars[1];
  const OptimizerChunk chunk = arguments.tables.chunks[blockIdx.x];
  const float decay = chunk.decayed ? arguments.weight_decay : 0.0F;
  for_my_elements(chunk, [&](auto pack, std::int64_t place) {
    constexpr int kElements = decltype(pack)::value;
    constexpr int kSlots = Rule::kSlots;
    auto variables = load_pack<kElements>(arguments.variables + place);
    const auto gradients = load_pack<kElements>(arguments.gradients + place);
    auto decaying = variables;
    if (arguments.decaying != nullptr) {
      decaying = load_pack<kElements>(arguments.decaying + place);
    }
    Pack<float, kElements> slots[kSlots > 0 ? kSlots : 1];
    for (int slot = 0; slot < kSlots; ++slot) {
      slots[slot] = load_pack<kElements>(arguments.slots[slot] + place);
    }
    for (int j = 0; j < kElements; ++j) {
      const float w = variables.values[j];
      float g = fmaf(decay, decaying.values[j], gradients.values[j] * gradient_scale);
      // Unlike fminf and fmaxf, comparisons preserve a NaN.
      g = g > arguments.clip ? arguments.clip : g;
      g = g < -arguments.clip ? -arguments.clip : g;
      float of_element[kMostOptimizerSlots];
      for (int slot = 0; slot < kSlots; ++slot) {
        of_element[slot] = slots[slot].values[j];
      }
      variables.values[j] = rule.variable(w, g, rate, of_element);
      for (int slot = 0; slot < kSlots; ++slot) {
        slots[slot].values[j] = of_element[slot];
      }
    }
    store_pack(arguments.variables + place, variables);
    for (int slot = 0; slot < kSlots; ++slot) {
      store_pack(arguments.slots[slot] + place, slots[slot]);
    }
    for (int i = 0; i < chunk.copies; ++i) {
      const OptimizerCopy copy = arguments.tables.copies[chunk.first_copy + i];
      if (copy.dtype == DType::bf16) {
        renew(copy, static_cast<__nv_bfloat16*>(arguments.copies), place, variables);
      } else {
        renew(copy, static_cast<__half*>(arguments.copies), place, variables);
      }
    }
  });
}

template <int kElements>
__device__ float sum_of_squares(const Pack<float, kElements>& pack, float sum) {
  for (int j = 0; j < kElements; ++j) {
    sum = fmaf(pack.values[j], pack.values[j], sum);
  }
  return sum;
}

__global__ void __launch_bounds__(kLanes)
    squares_kernel(OptimizerTables tables, const float* __restrict__ variables,
                   const float* __restrict__ gradients) {
  float of_variables = 0;
  float of_gradients = 0;
  for_my_elements(tables.chunks[blockIdx.x], [&](auto pack, std::int64_t place) {
    constexpr int kElements = decltype(pack)::value;
    of_variables = sum_of_squares(load_pack<kElements>(variables + place), of_variables);
    of_gradients = sum_of_squares(load_pack<kElements>(gradients + place), of_gradients);
  });
  of_variables = combined_over_block(of_variables, Sum());
  of_gradients = combined_over_block(of_gradients, Sum());
  if (threadIdx.x == 0) {
    tables.squares[2 * blockIdx.x] = of_variables;
    tables.squares[2 * blockIdx.x + 1] = of_gradients;
  }
}

__global__ void __launch_bounds__(kLanes)
    trust_ratios_kernel(OptimizerTables tables, LarsRule rule, double weight_decay,
                        const StepState* state) {
  const OptimizerChunks chunks = tables.segments[blockIdx.x];
  float of_variables = 0;
  float of_gradients = 0;
  for (int i = static_cast<int>(threadIdx.x); i < chunks.count;
       i += static_cast<int>(blockDim.x)) {
    of_variables += tables.squares[2 * (chunks.first + i)];
    of_gradients += tables.squares[2 * (chunks.first + i) + 1];
  }
  of_variables = combined_over_block(of_variables, Sum());
  of_gradients = combined_over_block(of_gradients, Sum());
  if (threadIdx.x == 0) {
    const double gradient_norm =
        std::sqrt(static_cast<double>(of_gradients)) * scalars_of(*state).gradient_scale;
    const double variable_norm = std::sqrt(static_cast<double>(of_variables));
    tables.rate_factors[blockIdx.x] =
        chunks.decayed
            ? static_cast<float>(trust_ratio(rule, weight_decay, variable_norm, gradient_norm))
            : 1.0F;
  }
}

__global__ void finish_step_kernel(StepState* state, LossScaleRule rule) {
  finish_step(*state, rule);
}

__global__ void assume_finite_kernel(StepState* state) { state->finite = 1; }

__global__ void judge_kernel(OptimizerTables tables, const float* __restrict__ gradients,
                             StepState* state) {
  bool finite = true;
  for_my_elements(tables.chunks[blockIdx.x], [&](auto pack, std::int64_t place) {
    constexpr int kElements = decltype(pack)::value;
    const auto loaded = load_pack<kElements>(gradients + place);
    for (int j = 0; j < kElements; ++j) {
      // False for a NaN too.
      finite = finite && fabsf(loaded.values[j]) <= kLargestFinite;
    }
  });
  if (!finite) {
    atomicExch(&state->finite, 0);
  }
}

__global__ void fill_kernel(OptimizerTables tables, float* __restrict__ slot, float value) {
  for_my_elements(tables.chunks[blockIdx.x], [&](auto pack, std::int64_t place) {
    constexpr int kElements = decltype(pack)::value;
    Pack<float, kElements> values;
    for (int j = 0; j < kElements; ++j) {
      values.values[j] = value;
    }
    store_pack(slot + place, values);
  });
}

__global__ void forget_updates_kernel(StepState* state) { state->updates = 0; }

constexpr dim3 kOne(1);

LaunchShape chunks_shape(const char* kernel, const OptimizerTables& tables) {
  return {kernel, dim3(static_cast<unsigned>(tables.chunk_count)), dim3(kLanes)};
}

}  // namespace

void reset_optimizer(cudaStream_t stream, const OptimizerReset& args) {
  for (std::size_t slot = 0; slot < args.slot_count && args.tables.chunk_count > 0; ++slot) {
    launch(stream, chunks_shape("reset_optimizer", args.tables), fill_kernel, args.tables,
           args.slots[slot], args.first_values[slot]);
  }
  launch(stream, {"forget_updates", kOne, kOne}, forget_updates_kernel, args.state);
}

void judge_gradients(cudaStream_t stream, const OptimizerJudgement& args) {
  launch(stream, {"assume_finite", kOne, kOne}, assume_finite_kernel, args.state);
  if (args.tables.chunk_count > 0) {
    launch(stream, chunks_shape("judge_gradients", args.tables), judge_kernel, args.tables,
           args.gradients, args.state);
  }
}

void update_variables(cudaStream_t stream, const OptimizerUpdate& args) {
  const UpdateArguments arguments{.tables = args.tables,
                                  .weight_decay = static_cast<float>(args.weight_decay),
                                  .clip = static_cast<float>(args.clip),
                                  .variables = args.variables,
                                  .gradients = args.gradients,
                                  .decaying = args.decaying,
                                  .slots = {args.slots[0], args.slots[1]},
                                  .copies = args.copies,
                                  .state = args.state};
  const auto* const lars = std::get_if<LarsRule>(&args.rule);
  if (lars != nullptr && args.tables.chunk_count > 0) {
    const float* const decaying = args.decaying == nullptr ? args.variables : args.decaying;
    launch(stream, chunks_shape("sums_of_squares", args.tables), squares_kernel, args.tables,
           decaying, args.gradients);
    launch(stream,
           {"trust_ratios", dim3(static_cast<unsigned>(args.tables.segment_count)), dim3(kLanes)},
           trust_ratios_kernel, args.tables, *lars, args.weight_decay, args.state);
  }
  if (args.tables.chunk_count > 0) {
    std::visit(
        [&](const auto& rule) {
          const auto of_gpu = on_gpu(rule);
          launch(stream, chunks_shape("update_variables", args.tables),
                 update_kernel<std::remove_const_t<decltype(of_gpu)>>, arguments, of_gpu);
        },
        args.rule);
  }
  launch(stream, {"finish_step", kOne, kOne}, finish_step_kernel, args.state, args.loss_scale);
}

}  // namespace bench::cuda

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace bench {

struct OnednnOptions {
  /// Logical processors, one thread each; the first is the calling host thread's.
  std::vector<int> processors;
  /// Each thread may run on its own processor only.
  bool pin = true;
  /// An upper bound for the instruction set, as ONEDNN_MAX_CPU_ISA takes it; unset: oneDNN's own.
  std::optional<std::string> max_isa = {};
  /// Offers Winograd's algorithm for 3x3 convolutions: in f32 with AVX2, and in bf16 with AVX-512
  /// but without AMX.
  bool winograd = true;
};

/// oneDNN 3.x for convolutions, pooling and fully connected layers, our own vector kernels for the
/// rest, f32. Launches wait. The backend, its kernels and streams are used by the host thread that
/// made it. Throws UsageError for an unknown max_isa.
std::unique_ptr<Backend> make_onednn_backend(const OnednnOptions& options);

/// How many threads a backend may have: OpenMP's limit (OMP_THREAD_LIMIT).
int onednn_most_threads();
/// "3.7.2".
std::string onednn_version();
/// The instruction set oneDNN generates code for, e.g. "avx512_core_bf16".
std::string onednn_isa();

}  // namespace bench

#pragma once

#include <string>

#include "bench/plan/settings.h"

namespace bench {

/// The type in which a run computes. If --use_fp16 left the choice open, also a sentence for the
/// user; else the sentence is empty.
struct Precision {
  DType dtype = DType::f32;
  std::string note;

  void apply(RunSettings& settings) const;
};

/// Resolves --use_fp16: to the workload's earlier type, else to f16, unless the device does not
/// support it or bf16 is 10 % faster in a measurement. Throws UsageError if the device does not
/// support the requested type, or rank 0's.
Precision choose_precision(const Workload& workload, Backend& backend);

/// Describes the resolved type: "f32"; "int8"; "bf16 (f32 variables)" when training in 16 bits.
std::string describe_precision(const Workload& workload);

}  // namespace bench

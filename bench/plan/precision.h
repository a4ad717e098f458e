#pragma once

#include <string>

#include "bench/plan/settings.h"

namespace bench {

/// The type a run computes in, and a sentence for the user where --use_fp16 left the choice; else
/// empty.
struct Precision {
  DType dtype = DType::f32;
  std::string note;

  void apply(RunSettings& settings) const;
};

/// Settles --use_fp16 on the faster of bf16 and f16; measures where the device computes in both.
/// Throws UsageError when the device cannot compute in the type asked for.
Precision choose_precision(const RunSettings& settings, Backend& backend);

/// What the settled type is called: "f32"; "int8"; "bf16 (f32 variables)" where 16 bits learn.
std::string describe_precision(const RunSettings& settings);

}  // namespace bench

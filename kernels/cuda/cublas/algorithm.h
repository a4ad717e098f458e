#pragma once

#include <cublasLt.h>

#include <string>
#include <string_view>

namespace bench::cuda {

/// Throws DeviceError, with the call and its status, if the call failed.
void check_cublas(cublasStatus_t status, std::string_view call);

/// The name of a cuBLASLt algorithm, from all settings that identify it; default settings are
/// omitted. Example: "cublaslt:algo66:tile20:stages35:split4:reduce2:cluster3". One version of the
/// library gives the same name to the same algorithm.
std::string algorithm_name(const cublasLtMatmulAlgo_t& algorithm);

/// True if the algorithm gives the same bits each time. False if it adds partial sums in the
/// result: the library only promises that these additions come one after the other, not their
/// order.
bool repeats(const cublasLtMatmulAlgo_t& algorithm);

}  // namespace bench::cuda

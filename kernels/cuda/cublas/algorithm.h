#pragma once

#include <cublasLt.h>

#include <string>
#include <string_view>

namespace bench::cuda {

/// Throws DeviceError, with the call and its status, for one that failed.
void check_cublas(cublasStatus_t status, std::string_view call);

/// What an algorithm of cuBLASLt is called, by all that sets it apart from others:
/// "cublaslt:algo66:tile20:stages35:split4:reduce2:cluster3", without parts that are as they are by
/// default. One version of the library gives the same name to the same algorithm.
std::string algorithm_name(const cublasLtMatmulAlgo_t& algorithm);

/// Whether it gives the same bits each time: not where parts of the sum are added up in the result,
/// of whose order the library promises no more than that they come one after the other.
bool repeats(const cublasLtMatmulAlgo_t& algorithm);

}  // namespace bench::cuda

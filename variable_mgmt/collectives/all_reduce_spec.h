#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/dtype.h"

namespace bench {

/// How gradients up to a certain size are added.
struct AllReduceRange {
  std::string algorithm;
  /// The number of equal parts (shards) into which an algorithm splits its work.
  int shards = 1;
  /// The largest size in bytes; -1: any.
  std::int64_t limit = -1;
  bool operator==(const AllReduceRange&) const = default;
};

/// What is accepted for all sizes, besides the algorithms of one process.
struct AllReduceOffer {
  /// The members are on GPUs.
  bool nccl = true;
  /// "auto", which times the other algorithms.
  bool timed = true;
  /// The members are in several processes, which can use only mpi and nccl.
  bool processes = false;
};

/// Lists the algorithms for any size: "xring, pscpu, ...".
std::string describe_algorithms(const AllReduceOffer& offer = {});

/// Parses `algorithm[#shards][:limit:algorithm[#shards]]...`, for example
/// "pscpu:2k:psgpu#2:64k:xring". A limit is a whole number of bytes, optionally with K or k, M, G
/// or T (times 1024, 1024^2, ...). Each limit is larger than the one before. Throws UsageError that
/// gives the part, its position, and what is accepted there.
std::vector<AllReduceRange> parse_all_reduce_spec(std::string_view spec,
                                                  const AllReduceOffer& offer = {});

/// Throws UsageError, as parse_all_reduce_spec() does, if `members` members of a process cannot use
/// the spec or a part of it. `offer.nccl` and `offer.timed` only affect the message: callers
/// without nccl or auto refuse these themselves.
void check_all_reduce_spec(std::string_view spec, int members, const AllReduceOffer& offer = {});

/// The first range that accepts `bytes` bytes. (tf_cnn_benchmarks compares its limits with the
/// number of elements, contrary to its documentation.)
const AllReduceRange& range_for(std::span<const AllReduceRange> ranges, std::size_t bytes);

/// True if NCCL adds gradients of all sizes.
bool adds_by_nccl(std::span<const AllReduceRange> ranges);
/// True if MPI's all-reduce adds gradients of all sizes.
bool adds_by_mpi(std::span<const AllReduceRange> ranges);
/// MPI has no 16-bit floats.
constexpr bool mpi_adds(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// The range without its limit: "xring#2".
std::string name_of(const AllReduceRange& range);

}  // namespace bench

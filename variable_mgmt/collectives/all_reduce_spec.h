#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// How gradients of up to a size are added.
struct AllReduceRange {
  std::string algorithm;
  /// Into so many equal parts, shards, an algorithm splits its work.
  int shards = 1;
  /// The largest size it takes, in bytes; -1: any.
  std::int64_t limit = -1;
  bool operator==(const AllReduceRange&) const = default;
};

/// What a refusal names as accepted for all sizes, beside the algorithms of one host.
struct AllReduceOffer {
  /// The members are on GPUs.
  bool nccl = true;
  /// "auto", which times the others.
  bool timed = true;
};

/// The algorithms that add on one host, whatever the size, in a sentence: "xring, pscpu, ...".
std::string describe_algorithms(const AllReduceOffer& offer = {});

/// `algorithm[#shards][:limit:algorithm[#shards]]...`, as "pscpu:2k:psgpu#2:64k:xring". A limit is
/// a whole number of bytes, optionally of K or k, M, G or T (times 1024, 1024^2, ...), each larger
/// than the one before. Throws UsageError that names the part, where it begins, and what is
/// accepted there.
std::vector<AllReduceRange> parse_all_reduce_spec(std::string_view spec,
                                                  const AllReduceOffer& offer = {});

/// Throws UsageError, as parse_all_reduce_spec() does, for a spec or a part of it that so many
/// members of one host cannot add by. `offer` is for the sentence alone: to refuse nccl and auto is
/// for those who do not have them.
void check_all_reduce_spec(std::string_view spec, int members, const AllReduceOffer& offer = {});

/// The first range that takes so many bytes. (tf_cnn_benchmarks compares its limits with the number
/// of elements, against its own documentation.)
const AllReduceRange& range_for(std::span<const AllReduceRange> ranges, std::size_t bytes);

/// Whether it is NCCL that adds, whatever the size.
bool adds_by_nccl(std::span<const AllReduceRange> ranges);

/// "xring#2": the range without its limit.
std::string name_of(const AllReduceRange& range);

}  // namespace bench

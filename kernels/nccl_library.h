#pragma once

#include <climits>
#include <cstddef>
#include <string>

namespace bench::nccl {

/// The subset of NVIDIA's collectives library that we use. Names, numbers and layouts are those of
/// its header, from version 2.17 on; kernels/cuda/test verifies them.
inline constexpr const char* kLibrary = "libnccl.so.2";

/// One rank's membership in a group of GPUs.
using Communicator = struct CommunicatorHandle*;

enum Result : int { kSuccess = 0, kInProgress = 7 };
enum DataType : int { kFloat16 = 6, kFloat32 = 7, kFloat64 = 8, kBfloat16 = 9 };
enum Reduction : int { kSum = 0 };

inline constexpr std::size_t kIdBytes = 128;
/// kLibrary, or the path in the environment's BENCH_NCCL_LIBRARY.
std::string library_path();

/// The ID that the ranks of a group share.
struct UniqueId {
  char internal[kIdBytes];  // NOLINT(*-avoid-c-arrays)
};

/// The struct of version 2.17; a later library uses its defaults for newer members.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21700;
  int blocking = INT_MIN;
  int cga_cluster_size = INT_MIN;
  int min_ctas = INT_MIN;
  int max_ctas = INT_MIN;
  const char* net_name = nullptr;
};

/// The library, opened at run time. It stays open, because its internal threads may outlive every
/// communicator. Several threads may call it, each with a separate communicator.
class Library {
 public:
  /// Throws UsageError with the reason if it cannot be opened or lacks a function.
  explicit Library(const std::string& path = library_path());

  using Stream = void*;
  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(UniqueId* id) = nullptr;
  int (*init_rank)(Communicator* made, int ranks, UniqueId id, int rank, Config* config) = nullptr;
  int (*get_async_error)(Communicator communicator, int* state) = nullptr;
  int (*all_reduce)(const void* from, void* to, std::size_t count, int type, int reduction,
                    Communicator communicator, Stream stream) = nullptr;
  int (*abort)(Communicator communicator) = nullptr;
  const char* (*get_error_string)(int result) = nullptr;

  /// "ncclAllReduce: unhandled cuda error".
  [[nodiscard]] std::string explain(const char* call, int result) const;
  /// "2.28.9".
  [[nodiscard]] std::string version() const;
};

}  // namespace bench::nccl

#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// The functions of a plug-in for one MPI library. A plug-in is a shared library that exports
/// `bench_mpi_api`. It is the only code that includes MPI's header. All calls come from one thread.
/// A negative result is an error, for explain().
struct MpiApi {
  static constexpr std::uint32_t kVersion = 2;
  std::uint32_t version = kVersion;
  /// MPI_Init_thread.
  int (*init)() = nullptr;
  int (*rank)() = nullptr;
  int (*size)() = nullptr;
  /// "Open MPI v4.1.4, ...".
  const char* (*library)() = nullptr;
  /// MPI_Isend and MPI_Irecv; return a request's number.
  std::int64_t (*send)(int peer, int tag, const void* data, std::size_t bytes) = nullptr;
  std::int64_t (*receive)(int peer, int tag, void* data, std::size_t bytes) = nullptr;
  /// MPI_Iallreduce of floats of 4 or 8 bytes; returns a request's number.
  std::int64_t (*all_reduce)(void* data, std::size_t bytes, std::size_t width) = nullptr;
  /// MPI_Test: 1 if the request is done, which ends it; 0 if not.
  int (*test)(std::int64_t request) = nullptr;
  /// MPI_Finalize, or another way to exit normally. The only call that waits.
  int (*finish)() = nullptr;
  const char* (*explain)(std::int64_t error) = nullptr;
};

inline constexpr const char* kMpiEntry = "bench_mpi_api";
using MpiEntry = const MpiApi* (*)();

}  // namespace bench

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/dtype.h"

namespace bench {

/// Sends bytes between the processes of a run. One thread makes all calls. Only finish() waits.
class Transport {
 public:
  using Request = std::uint64_t;

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The library, for the record: "Open MPI 4.1.4".
  [[nodiscard]] virtual std::string library() const = 0;

  /// Begins to send. The bytes must stay valid until test() returns true. Messages with one tag
  /// reach a peer in order. Throws DeviceError.
  virtual Request send(int peer, int tag, std::span<const std::byte> bytes) = 0;
  /// Begins to receive a message of exactly that size. Throws DeviceError.
  virtual Request receive(int peer, int tag, std::span<std::byte> bytes) = 0;
  /// Begins to replace f32 or f64 elements by their sums over all processes. All processes must
  /// call it for the same numbers of elements in the same order. Throws DeviceError.
  virtual Request all_reduce(DType dtype, std::span<std::byte> elements) = 0;
  /// Returns true once the request is done; then it is invalid. Throws DeviceError.
  virtual bool test(Request request) = 0;

  /// Leaves the world after all requests are done. Waits for the other processes. Without this
  /// call, the process must end by _exit().
  virtual void finish() = 0;
};

/// Removes the requests that are done; returns true if there were any.
inline bool drop_done(Transport& transport, std::vector<Transport::Request>& requests) {
  return std::erase_if(requests,
                       [&](Transport::Request request) { return transport.test(request); }) > 0;
}

}  // namespace bench

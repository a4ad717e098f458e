#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "variable_mgmt/world/world.h"

namespace bench {

/// Sends this rank's text to all ranks, and receives theirs.
class Gather final : public WorldTask {
 public:
  /// No message is longer than `piece`, because MPI counts bytes as int.
  Gather(std::string text, int rank, int size, std::size_t piece = std::size_t{1} << 30);
  State advance(Transport& transport) override;
  void cancel(const std::string& reason) noexcept override;
  /// Every rank's text, by rank; Cancelled if the world fails. Call it once.
  std::future<std::vector<std::string>> result() { return result_.get_future(); }

 private:
  struct Waiting {
    int peer;
    Transport::Request request;
    /// Where the current piece ends; unset while the size is received.
    std::optional<std::size_t> end = {};
  };
  void begin(Transport& transport);
  /// Continues with the next piece of the text. Returns true if all are there.
  bool receive(Transport& transport, Waiting& waiting);

  int rank_;
  std::size_t piece_;
  std::uint64_t own_size_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::string> texts_;
  bool begun_ = false;
  std::vector<Transport::Request> sends_;
  std::vector<Waiting> waiting_;
  std::promise<std::vector<std::string>> result_;
};

}  // namespace bench

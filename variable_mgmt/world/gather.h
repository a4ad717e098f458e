#pragma once

#include <future>
#include <string>
#include <vector>

#include "variable_mgmt/world/world.h"

namespace bench {

/// Sends this rank's text to all ranks, and receives theirs.
class Gather final : public WorldTask {
 public:
  Gather(std::string text, int rank, int size);
  State advance(Transport& transport) override;
  void cancel(const std::string& reason) noexcept override;
  /// Every rank's text, by rank; Cancelled if the world fails. Call it once.
  std::future<std::vector<std::string>> result() { return result_.get_future(); }

 private:
  struct Waiting {
    int peer;
    Transport::Request request;
    bool for_size;
  };
  void begin(Transport& transport);
  /// Continues with the text once its size is known. Returns true if the text is there.
  bool receive(Transport& transport, Waiting& waiting);

  int rank_;
  std::uint64_t own_size_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::string> texts_;
  bool begun_ = false;
  std::vector<Transport::Request> sends_;
  std::vector<Waiting> waiting_;
  std::promise<std::vector<std::string>> result_;
};

}  // namespace bench

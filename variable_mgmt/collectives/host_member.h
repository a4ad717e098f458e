#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "variable_mgmt/collectives/host_communicator.h"

namespace bench {

/// A member of a host's collective.
class HostMember final : public CollectiveMember {
 public:
  HostMember(HostCommunicator& communicator, int rank, Backend& backend, Stream& stream);
  ~HostMember() override;

  Handle start(const BufferView& view) override;
  void wait(Handle handle, const Patience& patience) override;

 private:
  /// The device resources of one operation, reused by later ones.
  struct Place {
    /// `arrived`: the elements are in host memory. `returned`: the sums are in device memory.
    std::unique_ptr<Event> arrived;
    std::unique_ptr<Event> returned;
    /// Used if the device's memory is separate from the host's.
    std::unique_ptr<DeviceMemory> staging;
    std::size_t bytes = 0;
    bool taken = false;
  };
  struct Active {
    Operation* operation = nullptr;
    void* data = nullptr;
    Place* place = nullptr;
    bool worked = false;
    [[nodiscard]] std::size_t bytes() const {
      return operation->elements * size_of(operation->dtype);
    }
  };

  /// Returns work(). If it throws, cancels the others, which then do not access this member's
  /// memory any more.
  template <class Work>
  auto or_cancel(const Work& work);
  Place& take_place(std::size_t bytes);
  void advance();
  void see_arrivals();
  /// Does the member's steps of an operation; false if it must wait for other members first.
  bool do_steps(Active& active);
  bool is_free(const Operation& operation, const ReduceStep& step) const;
  void do_step(const Operation& operation, const ReduceStep& step);
  void finish_first();
  [[nodiscard]] bool is_done(Handle handle) const { return handle < done_; }
  /// Waits briefly for what the first operation waits for.
  void pause(std::uint32_t seen, int turn, const Patience& patience);
  /// Describes the wait, for example "is not done at its deadline: tower 2 has not come".
  [[nodiscard]] std::string describe_wait(Handle handle, std::string_view end) const;
  std::size_t index() const { return static_cast<std::size_t>(rank_); }

  HostCommunicator& communicator_;
  const int rank_;
  Backend& backend_;
  Stream& stream_;
  HostThreads threads_;
  const bool staged_;
  std::vector<std::unique_ptr<Place>> places_;
  std::deque<Active> active_;
  /// The handles of the next operation to start, and of the first that is not done.
  Handle next_ = 0;
  Handle done_ = 0;
};

}  // namespace bench

#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "variable_mgmt/collectives/meeting.h"

namespace bench {

/// A member of a host's collective.
class HostMember final : public CollectiveMember {
 public:
  HostMember(Meeting& meeting, int rank, Backend& backend, Stream& stream);
  ~HostMember() override;

  Handle start(const Stretch& stretch) override;
  bool test(Handle handle) override;
  void wait(Handle handle, const Patience& patience) override;

 private:
  /// What one operation needs of the device, used again by later ones.
  struct Place {
    /// The stretch is in memory of the host; the sums are in the device's.
    std::unique_ptr<Event> arrived;
    std::unique_ptr<Event> returned;
    /// Where the device's memory is not the host's.
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

  /// What `work` returns. When it throws, the others are cancelled, and none of them touches this
  /// member's memory any more.
  template <class Work>
  auto or_cancel(const Work& work);
  Place& take_place(std::size_t bytes);
  void advance();
  void see_arrivals();
  /// Does the member's steps of an operation; false when it has to wait for others before.
  bool do_steps(Active& active);
  bool is_free(const Operation& operation, const ReduceStep& step) const;
  void do_step(const Operation& operation, const ReduceStep& step);
  void finish_first();
  [[nodiscard]] bool is_done(Handle handle) const { return handle < done_; }
  /// Waits a little for whatever the first operation waits for.
  void pause(std::uint32_t seen, int turn, const Patience& patience);
  /// "is not done at its deadline: tower 2 has not come"
  [[nodiscard]] std::string describe_wait(Handle handle, std::string_view end) const;
  std::size_t index() const { return static_cast<std::size_t>(rank_); }

  Meeting& meeting_;
  const int rank_;
  Backend& backend_;
  Stream& stream_;
  HostThreads threads_;
  const bool staged_;
  std::vector<std::unique_ptr<Place>> places_;
  std::deque<Active> active_;
  /// Of the next one to be started, and of the first that is not done.
  Handle next_ = 0;
  Handle done_ = 0;
};

}  // namespace bench

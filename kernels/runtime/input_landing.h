#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/runtime/plan.h"

namespace bench {

/// Receives batches on a device with separate memory while its kernels still read the previous
/// batch. Each of a plan's inputs has a second buffer, which a separate stream fills. Kernels, and
/// recordings of them, read only the plan's buffer.
///
///     copies    upload 1 | upload 2 .........| upload 3 ..
///     kernels            | take 1 | step 1 ..| take 2 | step 2 ..
///
/// Taking is a copy, or a kernel that converts what has arrived.
class InputLanding {
 public:
  /// All arguments must outlive this object; `kernels` is the stream of the plan's steps.
  InputLanding(const Plan& plan, Backend& backend, Stream& kernels);
  ~InputLanding() { finish(*copies_); }
  InputLanding(const InputLanding&) = delete;
  InputLanding& operator=(const InputLanding&) = delete;

  /// Later work on `kernels` finds these bytes, or the output of `through` if given, in `to`, the
  /// plan's memory for the buffer. There must be no more bytes than planned. Does not wait. The
  /// host's memory must stay unchanged until the work that `kernels` has by then is done.
  void bring(std::size_t buffer, std::span<const std::byte> host, const TensorView& to,
             Kernel* through = nullptr);
  /// Until take(), bring() only starts transfers. `kernels` takes the data after all work that it
  /// received meanwhile, which does not wait for the copies. A buffer may be brought only once.
  void begin_ahead() { ahead_ = true; }
  void take();
  /// The time of the transfers since the last call, on the device's clock. Work of `kernels` that
  /// took their data must be complete. The first call returns 0 and begins to time them.
  [[nodiscard]] std::chrono::nanoseconds transfer_time();

 private:
  struct Landed {
    explicit Landed(Backend& backend)
        : begun(backend.make_event()), arrived(backend.make_event()), taken(backend.make_event()) {}
    std::unique_ptr<Event> begun;
    std::unique_ptr<Event> arrived;
    /// After this event, the buffer may be written again.
    std::unique_ptr<Event> taken;
    /// Its last transfer is not in transfer_time() yet.
    bool is_new = false;
  };

  /// Data that has arrived, or will arrive, and must be taken.
  struct Arrival {
    Landed* landed = nullptr;
    TensorView from;
    TensorView to;
    Kernel* through = nullptr;
  };
  void take(const Arrival& arrival);

  const Plan& plan_;
  Backend& backend_;
  Stream& kernels_;
  std::unique_ptr<DeviceMemory> memory_;
  std::map<std::size_t, Landed> landed_;
  bool ahead_ = false;
  bool timed_ = false;
  std::vector<Arrival> ahead_arrivals_;
  /// Destroyed first: nothing above may be freed while work is pending.
  std::unique_ptr<Stream> copies_;
};

}  // namespace bench

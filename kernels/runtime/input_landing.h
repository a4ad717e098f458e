#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kernels/runtime/plan.h"

namespace bench {

/// Where batches arrive on a device with memory of its own, while its kernels still read the batch
/// before: each of a plan's inputs has a second place, filled on a stream of its own. Kernels, and
/// recordings of them, read the plan's place alone.
///
///     copies    upload 1 | upload 2 .........| upload 3 ..
///     kernels            | take 1 | step 1 ..| take 2 | step 2 ..
///
/// Taking is a copy, or a kernel that makes something else of what has arrived.
class InputLanding {
 public:
  /// All outlive this; `kernels` is the stream that the plan's steps run on.
  InputLanding(const Plan& plan, Backend& backend, Stream& kernels);
  ~InputLanding() { finish(*copies_); }
  InputLanding(const InputLanding&) = delete;
  InputLanding& operator=(const InputLanding&) = delete;

  /// What `kernels` does from now on finds these bytes in the plan's place, `to`, of an input's
  /// buffer, or where there is one what `through` makes of them. There are no more of them than
  /// were planned. Does not wait; the host's memory has to stay as it is until the work that
  /// `kernels` has by then is done.
  void bring(std::size_t buffer, std::span<const std::byte> host, const TensorView& to,
             Kernel* through = nullptr);
  /// Until take(), what is brought is on its way only: `kernels` takes it there, behind whatever it
  /// was given meanwhile, which does not wait for the copies. A buffer may be brought once.
  void begin_ahead() { ahead_ = true; }
  void take();

 private:
  struct Landed {
    explicit Landed(Backend& backend)
        : arrived(backend.make_event()), taken(backend.make_event()) {}
    std::unique_ptr<Event> arrived;
    /// Its place may be written again.
    std::unique_ptr<Event> taken;
  };

  /// What has arrived, or will have, and is to be taken.
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
  std::vector<Arrival> ahead_arrivals_;
  /// Goes first: nothing above may go while work is under way.
  std::unique_ptr<Stream> copies_;
};

}  // namespace bench

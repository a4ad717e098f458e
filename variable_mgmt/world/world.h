#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "variable_mgmt/world/transport.h"

namespace bench {

/// Work that the world's thread does piece by piece. It must not wait.
class WorldTask {
 public:
  enum class State : std::uint8_t {
    idle,       ///< Nothing has changed.
    working,    ///< Something has changed, and more will.
    done,       ///< Finished; no request is pending.
    abandoned,  ///< Given up with pending requests, whose memory must stay.
  };

  WorldTask() = default;
  WorldTask(const WorldTask&) = delete;
  WorldTask& operator=(const WorldTask&) = delete;
  virtual ~WorldTask() = default;
  /// Does what is possible now. Throws DeviceError, which ends the world.
  virtual State advance(Transport& transport) = 0;
  /// False if the task can finish although this rank has left.
  [[nodiscard]] virtual bool waits_for(int /*rank*/) const { return true; }
  /// The world has failed: ends the waits for this task.
  virtual void cancel(const std::string& reason) noexcept = 0;
};

/// Hears that the world's thread works. Only that thread calls it.
class Heartbeat {
 public:
  Heartbeat() = default;
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  virtual ~Heartbeat() = default;
  virtual void beat() = 0;
  /// No heartbeat follows; the process will exit with this status. Called also after a failure,
  /// with 1.
  virtual void end(int status) = 0;
};

struct WorldSettings {
  /// This process's host.
  std::string host;
  /// A rank that sends nothing for this time is lost.
  std::chrono::nanoseconds silence = std::chrono::seconds(3);
  std::chrono::nanoseconds beat_every = std::chrono::milliseconds(500);
  /// A monotonic clock.
  std::function<std::chrono::nanoseconds()> now;
  /// Null: nothing receives heartbeats.
  std::shared_ptr<Heartbeat> heartbeat = nullptr;
};

/// The processes of a run. A separate thread sends a beat to all other processes every half second.
/// So the others notice a lost process whatever they do.
///
/// gather() and agree() wait for all workers, which must call them in the same order. They throw
/// Cancelled, with the cause, once the world has failed. Any thread may call every function.
class World {
 public:
  /// One process alone. It has no thread.
  World() = default;
  /// Opens the transport on the world's thread, and waits until all ranks know each other. Throws
  /// what `open` throws.
  World(std::function<std::unique_ptr<Transport>()> open, WorldSettings settings);
  /// Calls leave(1).
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// The ranks below this number are the workers: at first, all of them.
  [[nodiscard]] int workers() const { return workers_; }
  /// Leaves the ranks from `workers` on out of gather() and agree(), which they must not call. Call
  /// it once, on all ranks, after the same calls.
  void set_workers(int workers);
  [[nodiscard]] const std::string& library() const { return library_; }
  /// The host of a rank; empty before all ranks know each other.
  [[nodiscard]] std::string host(int rank) const;
  /// "rank 2 (host b)".
  [[nodiscard]] std::string name(int rank) const;

  /// Waits until all ranks leave, or the world has failed. The process must then exit with this
  /// status. After a failure, it must do so by _exit(), because the transport may still use the
  /// memory of its requests. Later calls do nothing.
  void leave(int status);

  /// Returns every worker's text, by rank.
  std::vector<std::string> gather(const std::string& text);
  /// Passes if `error` is empty on all workers. Otherwise throws UsageError on all of them, with
  /// the name and the error of the first worker that has one.
  void agree(const std::string& error);

  /// Reports what this rank does now, for the messages of other ranks: "planning".
  void set_phase(std::string_view phase);
  /// Ends the world: all ranks' waits throw Cancelled with this reason. The first reason counts.
  void fail(const std::string& reason);
  /// After fail(): waits until the others know the reason, about a second at most.
  void wait_for_end();
  /// True if the world has failed because this rank was lost.
  [[nodiscard]] bool has_lost(int rank) const;
  /// True if failure() is not empty. Fast.
  [[nodiscard]] bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
  /// Why the world has failed; empty if it has not.
  [[nodiscard]] std::string failure() const;

  /// Gives the task to the world's thread, which does tasks in this order as far as it can.
  void submit(std::shared_ptr<WorldTask> task);
  /// Returns when the world's thread has left all tasks that are done or abandoned.
  void synchronize();

 private:
  /// A beat as it is sent.
  struct Beat {
    enum class Kind : std::uint8_t { alive, failed, leaving };
    static constexpr std::size_t kLetters = 503;
    Kind kind = Kind::alive;
    std::int32_t lost = -1;    ///< The lost rank that caused the failure; -1: none.
    char text[kLetters] = {};  // NOLINT(*-avoid-c-arrays)
  };
  struct Peer {
    Beat received = {};
    Beat sent = {};
    Transport::Request receiving = 0;
    Transport::Request sending = 0;
    bool is_sending = false;
    std::chrono::nanoseconds heard{};
    std::string phase = {};
    bool left = false;
    /// The transport reported an error. No beats are sent or received any more.
    bool is_broken = false;
  };

  void run(const std::function<std::unique_ptr<Transport>()>& open);
  void begin(std::unique_ptr<Transport> transport);
  bool advance();
  bool advance_tasks();
  /// advance_tasks(), but a lost rank is reported instead of the error that it caused.
  bool advance_tasks_or_wait();
  /// Returns what `use` returns; false if the transport fails.
  template <class Use>
  static bool try_with(Peer& peer, const Use& use);
  bool hear(int rank, Peer& peer);
  void send_beats();
  /// True if every other rank has this last beat.
  [[nodiscard]] bool sent_to_all(Beat::Kind kind) const;
  [[nodiscard]] Beat current_beat() const;
  void check_silence(int rank, Peer& peer);
  /// Throws if a task waits for a rank that has left.
  void check_departures() const;
  /// Keeps the first reason. Requires the lock.
  void set_failure(const std::string& reason, int lost = -1);
  /// True if this rank has nothing left to do but to leave.
  [[nodiscard]] bool is_leaving() const;
  void cancel_tasks();
  void rest(bool busy);

  int rank_ = 0;
  int size_ = 1;
  int workers_ = 1;
  std::string library_;
  WorldSettings settings_;

  /// Used by the world's thread alone.
  std::unique_ptr<Transport> transport_;
  std::vector<Peer> peers_;
  std::chrono::nanoseconds next_beat_{};
  /// When this round of advance() began. A round has no other time: this process may be stopped
  /// within it.
  std::chrono::nanoseconds round_at_{};
  /// When a task last advanced, or none was there.
  std::chrono::nanoseconds progress_at_{};
  std::deque<std::shared_ptr<WorldTask>> tasks_;
  /// The transport's first error in a task, and when it occurred.
  std::string task_error_;
  std::chrono::nanoseconds task_error_at_{};
  /// Their requests are pending.
  std::vector<std::shared_ptr<WorldTask>> abandoned_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<WorldTask>> submitted_;
  std::vector<std::string> hosts_;
  std::string phase_ = "starting";
  std::string failure_;
  /// True if `failure_` is not empty. failure() is fast before that, because members poll it.
  std::atomic<bool> has_failed_ = false;
  int lost_ = -1;
  bool opened_ = false;
  bool leaving_ = false;
  int status_ = 1;
  bool ended_ = false;
  std::uint64_t rounds_ = 0;
  std::exception_ptr open_error_;
  std::thread thread_;
};

}  // namespace bench

// The world's thread. world.cc has what other threads call.

#include <algorithm>
#include <cstring>

#include "models/base/errors.h"
#include "variable_mgmt/world/tags.h"
#include "variable_mgmt/world/world.h"

namespace bench {
namespace {

using State = WorldTask::State;
using std::chrono::nanoseconds;

}  // namespace

void World::run(const std::function<std::unique_ptr<Transport>()>& open) {
  try {
    begin(open());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    open_error_ = std::current_exception();
    ended_ = true;
    changed_.notify_all();
    return;
  }
  std::chrono::nanoseconds failed_at{-1};
  while (true) {
    bool busy = false;
    try {
      busy = advance();
    } catch (const std::exception& error) {
      fail(error.what());
    }
    if (!failure().empty()) {
      cancel_tasks();
      send_beats();
      // Give the beats with the reason the time of two beats to leave.
      failed_at = failed_at.count() < 0 ? settings_.now() : failed_at;
      if (sent_to_all(Beat::Kind::failed) ||
          settings_.now() - failed_at > 2 * settings_.beat_every) {
        break;
      }
    }
    const bool all_left =
        sent_to_all(Beat::Kind::leaving) &&
        std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.left; });
    {
      const std::lock_guard lock(mutex_);
      ++rounds_;
      if (leaving_ && tasks_.empty() && submitted_.empty() && all_left) {
        break;
      }
    }
    changed_.notify_all();
    rest(busy);
  }
  if (failure().empty() && !abandoned_.empty()) {
    fail("requests of an abandoned task are pending");
  }
  if (settings_.heartbeat != nullptr) {
    settings_.heartbeat->end(failure().empty() ? status_ : 1);
  }
  if (failure().empty()) {
    try {
      transport_->finish();
      transport_.reset();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  cancel_tasks();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  cancel_tasks();  // Those that were submitted meanwhile.
  changed_.notify_all();
}

void World::begin(std::unique_ptr<Transport> transport) {
  transport_ = std::move(transport);
  rank_ = transport_->rank();
  size_ = transport_->size();
  workers_ = size_;
  library_ = transport_->library();
  peers_ = std::vector<Peer>(static_cast<std::size_t>(size_));
  const nanoseconds now = settings_.now();
  next_beat_ = now;
  round_at_ = now;
  progress_at_ = now;
  for (int rank = 0; rank < size_; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    peer.heard = now;
    peer.left = rank == rank_;
    if (rank != rank_) {
      peer.receiving = transport_->receive(rank, tag::kBeat,
                                           std::as_writable_bytes(std::span(&peer.received, 1)));
    }
  }
  const std::lock_guard lock(mutex_);
  opened_ = true;
  changed_.notify_all();
}

bool World::advance() {
  bool busy = false;
  // While this process itself was stopped, it heard nobody.
  const nanoseconds now = settings_.now();
  const nanoseconds away = now - round_at_;
  round_at_ = now;
  if (away > settings_.silence / 2) {
    for (Peer& peer : peers_) {
      peer.heard += away;
    }
    progress_at_ += away;
  }
  for (int rank = 0; rank < size_; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == rank_) {
      continue;
    }
    if (peer.is_sending && try_with(peer, [&] { return transport_->test(peer.sending); })) {
      peer.is_sending = false;
      busy = true;
    }
    busy |= hear(rank, peer);
  }
  send_beats();
  const bool advanced = advance_tasks_or_wait();
  if (advanced || tasks_.empty()) {
    progress_at_ = now;
  }
  check_departures();
  return advanced || busy;
}

void World::check_departures() const {
  if (round_at_ - progress_at_ <= settings_.silence) {
    return;
  }
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_ && peers_[static_cast<std::size_t>(rank)].left &&
        std::any_of(tasks_.begin(), tasks_.end(),
                    [&](const auto& task) { return task->waits_for(rank); })) {
      throw DeviceError(fmt::format("{} left the run", name(rank)));
    }
  }
}

bool World::hear(int rank, Peer& peer) {
  if (peer.left) {
    return false;
  }
  if (!try_with(peer, [&] { return transport_->test(peer.receiving); })) {
    check_silence(rank, peer);
    return false;
  }
  peer.heard = round_at_;
  const std::string text(peer.received.text, strnlen(peer.received.text, Beat::kLetters));
  switch (peer.received.kind) {
    case Beat::Kind::alive:
      peer.phase = text;
      break;
    case Beat::Kind::failed: {
      const std::lock_guard lock(mutex_);
      set_failure(text, peer.received.lost);
      peer.left = true;
      return true;
    }
    case Beat::Kind::leaving:
      peer.left = true;
      return true;
  }
  return try_with(peer, [&] {
    peer.receiving =
        transport_->receive(rank, tag::kBeat, std::as_writable_bytes(std::span(&peer.received, 1)));
    return true;
  });
}

void World::check_silence(int rank, Peer& peer) {
  const nanoseconds silent = round_at_ - peer.heard;
  if (silent <= settings_.silence) {
    return;
  }
  peer.left = true;
  if (is_leaving()) {
    return;  // Its last beat may have been lost; nothing else was expected of it.
  }
  const std::string reason =
      fmt::format("{} is lost: no message for {:.1f} s{}", name(rank),
                  std::chrono::duration<double>(silent).count(),
                  peer.phase.empty() ? "" : fmt::format("; it last reported \"{}\"", peer.phase));
  const std::lock_guard lock(mutex_);
  set_failure(reason, rank);
}

bool World::sent_to_all(Beat::Kind kind) const {
  for (int rank = 0; rank < size_; ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank != rank_ && !peer.is_broken && (peer.is_sending || peer.sent.kind != kind)) {
      return false;
    }
  }
  return true;
}

World::Beat World::current_beat() const {
  const std::lock_guard lock(mutex_);
  Beat beat;
  std::string_view text = phase_;
  if (!failure_.empty()) {
    beat.kind = Beat::Kind::failed;
    beat.lost = lost_;
    text = failure_;
  } else if (leaving_ && tasks_.empty() && submitted_.empty()) {
    beat.kind = Beat::Kind::leaving;
    text = "";
  }
  std::memcpy(beat.text, text.data(), std::min(text.size(), Beat::kLetters));
  return beat;
}

void World::send_beats() {
  const Beat beat = current_beat();
  const bool due = round_at_ >= next_beat_;
  for (int rank = 0; rank < size_; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    const bool is_last = peer.sent.kind != Beat::Kind::alive;
    if (rank == rank_ || peer.is_sending || is_last || (!due && beat.kind == Beat::Kind::alive)) {
      continue;
    }
    peer.sent = beat;
    peer.is_sending = try_with(peer, [&] {
      peer.sending = transport_->send(rank, tag::kBeat, std::as_bytes(std::span(&peer.sent, 1)));
      return true;
    });
  }
  if (due) {
    if (settings_.heartbeat != nullptr) {
      settings_.heartbeat->beat();
    }
    next_beat_ = round_at_ + settings_.beat_every;
  }
}

template <class Use>
bool World::try_with(Peer& peer, const Use& use) {
  if (peer.is_broken) {
    return false;
  }
  try {
    return use();
  } catch (const DeviceError&) {
    peer.is_broken = true;
    return false;
  }
}

bool World::advance_tasks_or_wait() {
  if (task_error_.empty()) {
    try {
      return advance_tasks();
    } catch (const DeviceError& error) {
      task_error_ = error.what();
      task_error_at_ = round_at_;
    }
  }
  if (round_at_ - task_error_at_ > settings_.silence + settings_.beat_every) {
    throw DeviceError(task_error_);
  }
  return false;
}

bool World::advance_tasks() {
  {
    const std::lock_guard lock(mutex_);
    tasks_.insert(tasks_.end(), submitted_.begin(), submitted_.end());
    submitted_.clear();
  }
  bool busy = false;
  for (std::size_t i = 0; i < tasks_.size();) {
    const State state = tasks_[i]->advance(*transport_);
    busy |= state != State::idle;
    if (state == State::idle || state == State::working) {
      ++i;
      continue;
    }
    if (state == State::abandoned) {
      abandoned_.push_back(tasks_[i]);
    }
    tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return busy;
}

void World::cancel_tasks() {
  std::string reason;
  {
    const std::lock_guard lock(mutex_);
    tasks_.insert(tasks_.end(), submitted_.begin(), submitted_.end());
    submitted_.clear();
    reason = failure_.empty() ? "the world has ended" : failure_;
  }
  for (const std::shared_ptr<WorldTask>& task : tasks_) {
    task->cancel(reason);
    abandoned_.push_back(task);
  }
  tasks_.clear();
}

void World::rest(bool busy) {
  constexpr std::chrono::microseconds kWithTasks{30};
  constexpr std::chrono::milliseconds kWithoutTasks{5};
  if (busy) {
    return;
  }
  if (!tasks_.empty()) {
    std::this_thread::sleep_for(kWithTasks);
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kWithoutTasks,
                    [&] { return !submitted_.empty() || leaving_ || !failure_.empty(); });
}

}  // namespace bench

#include "variable_mgmt/world/world.h"

#include "models/base/errors.h"
#include "variable_mgmt/world/gather.h"

namespace bench {

World::World(std::function<std::unique_ptr<Transport>()> open, WorldSettings settings)
    : settings_(std::move(settings)) {
  thread_ = std::thread([this, open = std::move(open)] { run(open); });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return opened_ || ended_; });
  }
  if (open_error_ != nullptr) {
    thread_.join();
    std::rethrow_exception(open_error_);
  }
  try {
    std::vector<std::string> hosts = gather(settings_.host);
    const std::lock_guard lock(mutex_);
    hosts_ = std::move(hosts);
  } catch (...) {
    leave(1);
    throw;
  }
}

World::~World() { leave(1); }

void World::leave(int status) {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
    status_ = status;
  }
  changed_.notify_all();
  thread_.join();
}

std::string World::host(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto place = static_cast<std::size_t>(rank);
  return place < hosts_.size() ? hosts_[place] : "";
}

std::string World::name(int rank) const {
  const std::string its_host = host(rank);
  return its_host.empty() ? fmt::format("rank {}", rank)
                          : fmt::format("rank {} (host {})", rank, its_host);
}

void World::set_workers(int workers) {
  check(workers >= 1 && workers <= size_, "world: the number of workers is wrong");
  workers_ = workers;
}

std::vector<std::string> World::gather(const std::string& text) {
  check(rank_ < workers_, "world: only workers gather");
  if (workers_ == 1) {
    return {text};
  }
  const auto task = std::make_shared<Gather>(text, rank_, workers_);
  std::future<std::vector<std::string>> result = task->result();
  submit(task);
  return result.get();
}

void World::agree(const std::string& error) {
  const std::vector<std::string> errors = gather(error);
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    if (!errors[rank].empty()) {
      throw UsageError(
          size_ == 1 ? error : fmt::format("{}: {}", name(static_cast<int>(rank)), errors[rank]));
    }
  }
}

void World::set_phase(std::string_view phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

void World::fail(const std::string& reason) {
  check(!reason.empty(), "world: a failure without a reason");
  {
    const std::lock_guard lock(mutex_);
    set_failure(reason);
  }
  changed_.notify_all();
}

void World::wait_for_end() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || size_ == 1; });
}

std::string World::failure() const {
  if (!has_failed_) {
    return "";
  }
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool World::has_lost(int rank) const {
  const std::lock_guard lock(mutex_);
  return lost_ == rank;
}

void World::set_failure(const std::string& reason, int lost) {
  if (failure_.empty()) {
    failure_ = reason;
    has_failed_ = !reason.empty();
    lost_ = lost;
  }
}

bool World::is_leaving() const {
  const std::lock_guard lock(mutex_);
  return leaving_ && tasks_.empty() && submitted_.empty();
}

void World::submit(std::shared_ptr<WorldTask> task) {
  std::string reason;
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty() && !ended_) {
      submitted_.push_back(std::move(task));
      changed_.notify_all();
      return;
    }
    reason = failure_.empty() ? "the world has ended" : failure_;
  }
  task->cancel(reason);
}

void World::synchronize() {
  std::unique_lock lock(mutex_);
  // The round in progress may have begun before; the following one has not.
  const std::uint64_t until = rounds_ + 2;
  changed_.notify_all();
  changed_.wait(lock, [&] { return ended_ || size_ == 1 || rounds_ >= until; });
}

}  // namespace bench

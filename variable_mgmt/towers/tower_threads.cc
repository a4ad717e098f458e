#include "variable_mgmt/towers/tower_threads.h"

#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "models/base/errors.h"
#include "models/base/threads.h"

namespace bench {
namespace {

/// Rethrows the failure with the tower's name in front.
[[noreturn]] void throw_named(const std::exception_ptr& failure, int tower) {
  const auto named = [&](const std::exception& error) {
    return fmt::format("tower {}: {}", tower, error.what());
  };
  try {
    std::rethrow_exception(failure);
  } catch (const UsageError& error) {
    throw UsageError(named(error));
  } catch (const DataError& error) {
    throw DataError(named(error));
  } catch (const WriteError& error) {
    throw WriteError(named(error));
  } catch (const DeviceError& error) {
    throw DeviceError(named(error));
  } catch (const InternalError& error) {
    throw InternalError(named(error));
  } catch (const std::bad_alloc& error) {
    throw DeviceError(fmt::format("tower {}: the host is out of memory ({})", tower, error.what()));
  } catch (const std::system_error& error) {
    throw DeviceError(named(error));
  } catch (const std::runtime_error& error) {
    // Derived types end the run and are not a tower's failure, so they pass unchanged.
    if (typeid(error) != typeid(std::runtime_error)) {
      throw;
    }
    throw DeviceError(named(error));
  } catch (const std::exception& error) {
    throw InternalError(named(error));
  }
}

}  // namespace

TowerThreads::TowerThreads(int towers) {
  check(towers > 0, "a run needs at least one tower");
  threads_.reserve(static_cast<std::size_t>(towers) - 1);
  for (int tower = 1; tower < towers; ++tower) {
    threads_.push_back(start_thread([this, tower] { serve(tower); }));
  }
}

TowerThreads::~TowerThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  begun_.notify_all();
}

void TowerThreads::run(const std::function<void(int)>& part,
                       const std::function<void(int)>& cancel) {
  if (threads_.empty()) {
    part(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    part_ = &part;
    cancel_ = &cancel;
    failure_ = nullptr;
    working_ = size();
    ++round_;
  }
  begun_.notify_all();
  call(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return working_ == 0; });
  if (failure_ != nullptr) {
    throw_named(failure_, failed_tower_);
  }
}

void TowerThreads::serve(int tower) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return ending_ || round_ != seen; });
      if (ending_) {
        return;
      }
      seen = round_;
    }
    call(tower);
  }
}

void TowerThreads::call(int tower) {
  bool first = false;
  const auto fail = [&](bool is_cause) {
    const std::lock_guard lock(mutex_);
    first = failure_ == nullptr;
    if (first || (is_cause && !failure_is_cause_)) {
      failure_ = std::current_exception();
      failure_is_cause_ = is_cause;
      failed_tower_ = tower;
    }
  };
  try {
    (*part_)(tower);
  } catch (const Cancelled&) {
    fail(false);
  } catch (...) {
    fail(true);
  }
  if (first && *cancel_) {
    (*cancel_)(tower);
  }
  const std::lock_guard lock(mutex_);
  if (--working_ == 0) {
    done_.notify_one();
  }
}

}  // namespace bench

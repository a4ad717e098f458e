#include "variable_mgmt/towers/towers.h"

#include "variable_mgmt/world/world.h"

namespace bench {

Towers::Towers(TowerThreads& threads, const Make& make, const SumSettings& sums, World* world)
    : threads_(threads),
      communicator_(threads.size(), sums, world),
      members_(static_cast<std::size_t>(threads.size())) {
  try {
    run([&](int number) {
      member(number) = make(number, communicator_);
      // Passes of the network may be long, so they end at a cancellation, too.
      member(number).tower->executor().set_cancelled([this, world] {
        return communicator_.barrier.cancelled() || (world != nullptr && world->has_failed());
      });
    });
  } catch (...) {
    clear();
    throw;
  }
}

Towers::~Towers() { clear(); }

void Towers::run(const std::function<void(int)>& part) {
  const auto or_abandon = [&](int number) {
    try {
      part(number);
    } catch (...) {
      if (UpdateStrategy* const own = update(number)) {
        own->abandon();
      }
      throw;
    }
  };
  threads_.run(or_abandon, [this](int tower) { communicator_.cancel(tower, "it failed"); });
}

void Towers::clear() noexcept {
  threads_.run([&](int number) {
    member(number).update.reset();
    member(number).tower.reset();
  });
}

}  // namespace bench

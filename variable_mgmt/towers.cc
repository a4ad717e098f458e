#include "variable_mgmt/towers.h"

namespace bench {

Towers::Towers(TowerThreads& threads, const Make& make, const std::vector<AllReduceRange>& spec)
    : threads_(threads),
      meeting_(threads.size(), spec),
      members_(static_cast<std::size_t>(threads.size())) {
  try {
    run([&](int number) { member(number) = make(number, meeting_); });
  } catch (...) {
    clear();
    throw;
  }
}

Towers::~Towers() { clear(); }

void Towers::run(const std::function<void(int)>& part) {
  threads_.run(part, [this](int tower) { meeting_.cancel(tower, "it failed"); });
}

void Towers::clear() noexcept {
  threads_.run([&](int number) {
    member(number).update.reset();
    member(number).tower.reset();
  });
}

}  // namespace bench

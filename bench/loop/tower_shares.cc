#include "bench/loop/tower_shares.h"

#include <iomanip>
#include <ostream>

#include "models/base/errors.h"

namespace bench {

TowerShare& TowerShare::operator+=(const TowerShare& other) {
  feeding += other.feeding;
  computing += other.computing;
  exchanging += other.exchanging;
  updating += other.updating;
  waiting += other.waiting;
  return *this;
}

void print_shares(std::ostream& out, std::span<const TowerShare> towers,
                  std::chrono::nanoseconds steps) {
  const auto share = [&](std::chrono::nanoseconds part) {
    constexpr double kPerCent = 100;
    return cat(std::fixed, std::setprecision(1),
               kPerCent * static_cast<double>(part.count()) / static_cast<double>(steps.count()),
               " %");
  };
  for (std::size_t tower = 0; tower < towers.size(); ++tower) {
    const TowerShare& each = towers[tower];
    out << "tower " << tower << ": computing " << share(each.computing) << " of the step time, "
        << "gradients " << share(each.exchanging) << ", update " << share(each.updating)
        << ", waiting for other towers " << share(each.waiting) << ", input and host "
        << share(steps - each.total() + each.feeding) << "\n";
  }
}

}  // namespace bench

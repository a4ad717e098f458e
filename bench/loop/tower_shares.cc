#include "bench/loop/tower_shares.h"

#include <iomanip>
#include <ostream>

#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"

namespace bench {

TowerShare& TowerShare::operator+=(const TowerShare& other) {
  input += other.input;
  computing += other.computing;
  exposed_communication += other.exposed_communication;
  updating += other.updating;
  host += other.host;
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
    out << stderr_line::tower << tower << ": input " << share(each.input)
        << " of the step time, computing " << share(each.computing) << ", exposed communication "
        << share(each.exposed_communication) << " (" << share(each.waiting)
        << " for slower towers), update " << share(each.updating) << ", host " << share(each.host)
        << "\n";
  }
}

}  // namespace bench

#include "bench/loop/step_times.h"

#include <ostream>

#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"

namespace bench {

StepTimes& StepTimes::operator+=(const StepTimes& other) {
  input += other.input;
  computing += other.computing;
  exposed_communication += other.exposed_communication;
  updating += other.updating;
  host += other.host;
  waiting += other.waiting;
  return *this;
}

void print_shares(std::ostream& out, std::span<const StepTimes> towers,
                  std::chrono::nanoseconds steps) {
  const auto share = [&](std::chrono::nanoseconds part) {
    constexpr double kPerCent = 100;
    return fmt::format("{:.1f} %", kPerCent * static_cast<double>(part.count()) /
                                       static_cast<double>(steps.count()));
  };
  for (std::size_t tower = 0; tower < towers.size(); ++tower) {
    const StepTimes& each = towers[tower];
    out << stderr_line::tower
        << fmt::format(
               "{}: input {} of the step time, computing {}, exposed communication {} ({} waiting "
               "for slower towers), update {}, host {}\n",
               tower, share(each.input), share(each.computing), share(each.exposed_communication),
               share(each.waiting), share(each.updating), share(each.host));
  }
}

StepTimes times_of(const StepLaps& step, const TowerLaps& tower, std::chrono::nanoseconds last,
                   std::chrono::nanoseconds computed, std::chrono::nanoseconds exchanged) {
  const std::chrono::nanoseconds waiting = last - tower.done + step.agreeing;
  return {.input = step.input - step.begun + (tower.fed - tower.begun),
          .computing = computed - tower.fed,
          .exposed_communication = exchanged + waiting,
          .updating = tower.done - computed - exchanged,
          .host = tower.begun - step.input + (step.done - last) - step.agreeing,
          .waiting = waiting};
}

}  // namespace bench

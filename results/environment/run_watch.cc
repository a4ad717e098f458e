#include "results/environment/run_watch.h"

#include <utility>

#include "results/environment/cgroup.h"

namespace bench {

RunWatch::RunWatch(const SystemFiles& files, const Clock& clock, std::vector<int> processors,
                   TimedWatch* gpu, std::set<std::int64_t> own)
    : files_(files),
      clock_(clock),
      processors_(std::move(processors)),
      gpu_(gpu),
      own_(std::move(own)),
      processes_before_(read_process_times(files, own_)),
      made_(clock.now()) {
  const Unknown untimed{"no step was timed"};
  energy_ = {.source = untimed, .joules = untimed, .coverage = untimed};
  throttling_ = {.periods = untimed, .time = untimed};
}

void RunWatch::begin() {
  throttling_before_ = cgroup_throttling(files_);
  cpu_.emplace(files_, processors_);
  if (gpu_ != nullptr) {
    gpu_->begin();
  }
  rapl_before_ = read_rapl(files_);
}

void RunWatch::end() {
  if (gpu_ != nullptr) {
    gpu_->end();
  }
  if (ended_ || !cpu_) {
    return;
  }
  ended_ = true;
  energy_ = rapl_energy(rapl_before_, read_rapl(files_));
  cpu_->end();
  throttling_ = throttled_between(throttling_before_, cgroup_throttling(files_));
  busy_ = busiest(processes_before_, read_process_times(files_, own_), clock_.now() - made_);
}

void RunWatch::add_to(results::Record& record) const {
  record.load.busy = busy_;
  record.load.throttling = throttling_;
  record.energy = energy_;
  if (cpu_) {
    record.cpu_watched = cpu_->result();
    return;
  }
  record.cpu_watched = {.mhz = Unknown{"no step was timed"},
                        .celsius = Unknown{"no step was timed"}};
}

}  // namespace bench

#include "results/environment/cpu_watch.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr double kPerThousand = 1e-3;

/// Adds the values of the files `prefix<anything>suffix` of a folder, in thousandths of a degree.
void add_temperatures(const SystemFiles& files, const std::string& folder, std::string_view prefix,
                      std::string_view suffix, std::vector<double>& celsius) {
  for (const std::string& name : files.names_in(folder).value_or({})) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    const Captured<std::int64_t> value = files.read_integer(fmt::format("{}/{}", folder, name));
    if (value.known()) celsius.push_back(kPerThousand * static_cast<double>(value.value()));
  }
}

/// True for sensors of the processor itself, by the names of Linux's drivers.
bool is_of_processor(const std::string& name) {
  return name == "coretemp" || name == "k10temp" || name == "zenpower" || name == "cpu_thermal";
}

}  // namespace

Captured<double> mean_mhz(const SystemFiles& files, const std::vector<int>& processors) {
  double sum = 0;
  for (const int processor : processors) {
    const Captured<std::int64_t> kilohertz = files.read_integer(
        fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", processor));
    if (!kilohertz.known()) return Unknown{kilohertz.why()};
    sum += kPerThousand * static_cast<double>(kilohertz.value());
  }
  if (processors.empty()) return Unknown{"the processors that the run uses are unknown"};
  return sum / static_cast<double>(processors.size());
}

Captured<double> hottest_celsius(const SystemFiles& files) {
  std::vector<double> celsius;
  for (const std::string& name : files.names_in("/sys/class/hwmon").value_or({})) {
    const std::string folder = "/sys/class/hwmon/" + name;
    if (is_of_processor(files.read(folder + "/name").value_or(""))) {
      add_temperatures(files, folder, "temp", "_input", celsius);
    }
  }
  if (celsius.empty()) {
    for (const std::string& name : files.names_in("/sys/class/thermal").value_or({})) {
      const std::string folder = "/sys/class/thermal/" + name;
      if (name.starts_with("thermal_zone")) {
        add_temperatures(files, folder, "temp", "temp", celsius);
      }
    }
  }
  if (celsius.empty()) {
    return Unknown{"/sys/class/hwmon and /sys/class/thermal have no sensor of the processor"};
  }
  return *std::max_element(celsius.begin(), celsius.end());
}

CpuWatch::CpuWatch(const SystemFiles& files, std::vector<int> processors,
                   std::chrono::nanoseconds period)
    : files_(files), processors_(std::move(processors)) {
  const Captured<double> mhz = mean_mhz(files_, processors_);
  const Captured<double> celsius = hottest_celsius(files_);
  watched_.mhz = Unknown{mhz.why()};
  watched_.celsius = Unknown{celsius.why()};
  if (mhz.known() || celsius.known()) {
    thread_ = std::thread([this, period] { watch(period); });
  }
}

void CpuWatch::end() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
  if (!mhz_.empty()) watched_.mhz = mhz_;
  if (!celsius_.empty()) watched_.celsius = celsius_;
}

void CpuWatch::sample() {
  if (const Captured<double> mhz = mean_mhz(files_, processors_); mhz.known()) {
    mhz_.push_back(mhz.value());
  }
  if (const Captured<double> celsius = hottest_celsius(files_); celsius.known()) {
    celsius_.push_back(celsius.value());
  }
}

void CpuWatch::watch(std::chrono::nanoseconds period) {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    sample();
    lock.lock();
    next = std::max(next, std::chrono::steady_clock::now()) + period;
  } while (!changed_.wait_until(lock, next, [this] { return over_; }));
}

}  // namespace bench

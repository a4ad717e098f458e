#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/record/captured.h"
#include "results/record/gpu.h"

/// The labels of a run, and the conditions around it.
namespace bench::results {

/// Labels from the user, or from the program that started the run.
struct Labels {
  Captured<std::string> group_id = Unknown{"a single run, without --repeats"};
  Captured<int> repeat_index = Unknown{"a single run, without --repeats"};  ///< From 0.
  /// Index from 0: among all runs of an interleaved comparison, or among the repeats of --repeats.
  Captured<int> order_index = Unknown{"a single run, without --repeats"};
  Captured<std::string> label = Unknown{"not given (--label)"};
  std::map<std::string, std::string> tags{};
  std::string reason = "adhoc";  ///< nightly, pr, procurement or adhoc.
  Captured<bool> reportable = Unknown{"not requested (--reportable)"};
  std::vector<std::string> violations{};  ///< Why it is unfit to publish.
};

/// The machine's cost, from the file of --cost.
struct Cost {
  std::string currency{};
  Captured<double> capex{};        ///< Purchase price.
  Captured<double> hourly{};       ///< Rent per hour.
  Captured<double> watts{};        ///< Power at the wall, while it computes.
  Captured<double> years{};        ///< Years of use.
  Captured<double> utilization{};  ///< Fraction of the time in use.
  Captured<double> kwh_price{};    ///< Price of electricity.
  Captured<double> pue{};          ///< Energy of the building / of the machine.
};

struct EnergyDomain {
  std::string name{};  ///< Such as "package-0".
  double joules = 0;
};

/// Energy over the timed steps, by the machine's own counters.
struct Energy {
  Captured<std::string> source{};  ///< rapl or nvml_total_energy.
  std::vector<EnergyDomain> domains{};
  Captured<double> joules{};  ///< Sum of the domains, without those contained in another.
  Captured<double> idle_watts = Unknown{"not measured: bench does not wait for an idle machine"};
  Captured<std::string> coverage{};  ///< What it includes: processor packages, boards.
};

/// The storage of the images.
struct Storage {
  std::string filesystem{};
  std::string device{};
  std::string mount_options{};
  Captured<bool> rotational{};
  Captured<std::string> scheduler{};
};

/// Another program that computed during the run.
struct BusyProcess {
  std::string name{};
  double processors = 0;  ///< Processors' worth of time.
};

/// One sample per second of the timed steps, each a mean over the processors.
struct CpuWatched {
  Captured<std::vector<double>> mhz{};
  Captured<std::vector<double>> celsius{};  ///< The hottest sensor.
};

/// How much a control group slowed the run.
struct Throttling {
  Captured<std::int64_t> periods{};           ///< Periods in which it was stopped.
  Captured<std::chrono::nanoseconds> time{};  ///< Time stopped, over all processors.
};

}  // namespace bench::results

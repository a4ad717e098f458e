#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/captured.h"
#include "results/gpu.h"

/// What a run is called, what it belongs to, and what went on around it.
namespace bench::results {

/// As the user, or the program that started the run, says.
struct Labels {
  Captured<std::string> group_id = Unknown{"one run alone, of no --repeats"};
  Captured<int> repeat_index = Unknown{"one run alone, of no --repeats"};  ///< From 0.
  /// From 0: the how-many-eth of all runs of an interleaved comparison; of --repeats the repeat.
  Captured<int> order_index = Unknown{"one run alone, of no --repeats"};
  Captured<std::string> label = Unknown{"not given (--label)"};
  std::map<std::string, std::string> tags{};
  std::string reason = "adhoc";  ///< nightly, pr, procurement or adhoc.
  Captured<bool> reportable = Unknown{"not asked for (--reportable)"};
  std::vector<std::string> violations{};  ///< What makes it unfit to publish.
};

/// What the machine costs, as the file of --cost says.
struct Cost {
  std::string currency{};
  Captured<double> capex{};      ///< To buy it.
  Captured<double> hourly{};     ///< To rent it.
  Captured<double> years{};      ///< For which it is used.
  Captured<double> kwh_price{};  ///< Of electricity.
  Captured<double> pue{};        ///< Energy of the room / energy of the machine.
};

struct EnergyDomain {
  std::string name{};  ///< Such as "package-0".
  double joules = 0;
};

/// What the timed steps took, by the machine's own counters.
struct Energy {
  Captured<std::string> source{};  ///< rapl or nvml_total_energy.
  std::vector<EnergyDomain> domains{};
  Captured<double> joules{};  ///< Of all domains that hold no other.
  Captured<double> idle_watts = Unknown{"not measured: the machine is not left alone before a run"};
  Captured<std::string> coverage{};  ///< Of what: processor packages, boards.
};

/// Where the images lie.
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

/// Of the timed steps, a sample a second, each a mean over the processors.
struct CpuWatched {
  Captured<std::vector<double>> mhz{};
  Captured<std::vector<double>> celsius{};  ///< The hottest sensor.
};

/// How much a control group held the run back.
struct Throttling {
  Captured<std::int64_t> periods{};           ///< In which it was stopped.
  Captured<std::chrono::nanoseconds> time{};  ///< For which it was stopped, over all processors.
};

}  // namespace bench::results

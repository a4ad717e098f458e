// NVML without a driver: a library for tests, which answers from a table. With FAKE_NVML_OLD it
// lacks the functions that older drivers lack.

#include "results/environment/test/fake_nvml.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sstream>

#include "results/environment/nvml.h"

// NOLINTBEGIN(readability-identifier-naming)

using bench::FakeNvml;
namespace nvml = bench::nvml;

namespace {

constexpr int kUninitialized = 1;
constexpr int kNotFound = 6;

FakeNvml quiet_h100() {
  FakeNvml fake;
  fake.answers = {{"nvmlDeviceGetMemoryInfo:total", {80ULL << 30U}},
                  {"nvmlDeviceGetMemoryInfo:used", {3ULL << 30U}},
                  {"nvmlDeviceGetEccMode", {1}},
                  {"nvmlDeviceGetPersistenceMode", {1}},
                  {"nvmlDeviceGetMigMode", {0}},
                  {"nvmlDeviceGetClockInfo:0", {1950}},
                  {"nvmlDeviceGetClockInfo:1", {1965}},
                  {"nvmlDeviceGetClockInfo:2", {2619}},
                  {"nvmlDeviceGetMaxClockInfo:0", {1980}},
                  {"nvmlDeviceGetMaxClockInfo:1", {1980}},
                  {"nvmlDeviceGetMaxClockInfo:2", {2619}},
                  {"nvmlDeviceGetEnforcedPowerLimit", {700'000}},
                  {"nvmlDeviceGetPowerManagementDefaultLimit", {700'000}},
                  {"nvmlDeviceGetPowerUsage", {500'000}},
                  {"nvmlDeviceGetTemperature", {55}},
                  {"nvmlDeviceGetUtilizationRates", {98}},
                  {"nvmlDeviceGetCurrPcieLinkGeneration", {5}},
                  {"nvmlDeviceGetCurrPcieLinkWidth", {16}},
                  {"nvmlDeviceGetMaxPcieLinkGeneration", {5}},
                  {"nvmlDeviceGetMaxPcieLinkWidth", {16}},
                  {"nvmlDeviceGetTotalEnergyConsumption", {1'000'000}}};
  fake.processes[static_cast<unsigned>(getpid())] = 2ULL << 30U;
  // For tests that start other programs: FAKE_NVML_ANSWERS="name=1,2 name:0=3", and process=PID.
  const char* const given = std::getenv("FAKE_NVML_ANSWERS");
  std::istringstream words(given == nullptr ? "" : given);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    std::vector<unsigned long long> values;
    std::istringstream numbers(word.substr(equals + 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      values.push_back(std::stoull(number));
    }
    const std::string name = word.substr(0, equals);
    if (name == "process") {
      fake.processes[static_cast<unsigned>(values.at(0))] = nvml::kNotAvailable;
    } else {
      fake.answers[name] = values;
    }
  }
  return fake;
}

FakeNvml& table() {
  static FakeNvml fake = quiet_h100();
  return fake;
}

bool initialized = false;

/// Any thread may call NVML, and each card is watched on a separate thread.
std::mutex in_use;

/// The answer to this call; 0 if the table has no answer.
template <class Value>
int answer(const std::string& function, const std::string& key, Value* value) {
  FakeNvml& fake = table();
  std::unique_lock lock(in_use);
  fake.threads.push_back(std::this_thread::get_id());
  const int call = fake.calls[key]++;
  if (fake.on_call) {
    lock.unlock();  // It may wait for another thread's call, or change the table.
    fake.on_call(key);
    lock.lock();
  }
  if (!initialized) {
    return kUninitialized;
  }
  if (const auto failure = fake.failures.find(function); failure != fake.failures.end()) {
    return failure->second;
  }
  const std::vector<unsigned long long>& answers = fake.answers[key];
  const std::size_t position = std::min(static_cast<std::size_t>(call) + 1, answers.size());
  *value = answers.empty() ? Value{} : static_cast<Value>(answers[position - 1]);
  return nvml::kSuccess;
}

template <class Value>
int answer(const char* function, Value* value) {
  return answer(function, function, value);
}

template <class Value>
int answer_of(const char* function, unsigned argument, Value* value) {
  return answer(function, std::string(function).append(":").append(std::to_string(argument)),
                value);
}

int answer_text(const char* function, const char* text, char* to, unsigned length) {
  unsigned ignored = 0;
  const int status = answer(function, &ignored);
  if (status == nvml::kSuccess) {
    std::strncpy(to, text, length);
  }
  return status;
}

}  // namespace

extern "C" {

FakeNvml* fake_nvml_begin() {
  table() = quiet_h100();
  return &table();
}

int nvmlInit_v2() {
  const auto failure = table().failures.find("nvmlInit_v2");
  if (failure != table().failures.end()) {
    return failure->second;
  }
  initialized = true;
  return nvml::kSuccess;
}

int nvmlShutdown() {
  initialized = false;
  return nvml::kSuccess;
}

const char* nvmlErrorString(int status) {
  switch (status) {
    case 3:
      return "Not Supported";
    case 4:
      return "Insufficient Permissions";
    case kNotFound:
      return "Not Found";
    case 9:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return answer_text("nvmlSystemGetDriverVersion", "580.95.05", text, length);
}
int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return answer_text("nvmlSystemGetNVMLVersion", "13.580.95.05", text, length);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, nvml::Device* device) {
  static int card = 0;
  *device = reinterpret_cast<nvml::Device>(&card);
  return std::strcmp(bus, bench::kFakeBus) == 0 ? nvml::kSuccess : kNotFound;
}
int nvmlDeviceGetUUID(nvml::Device /*device*/, char* text, unsigned length) {
  return answer_text("nvmlDeviceGetUUID", "GPU-fake", text, length);
}
int nvmlDeviceGetMemoryInfo(nvml::Device /*device*/, nvml::Memory* memory) {
  const char* const function = "nvmlDeviceGetMemoryInfo";
  const int status = answer(function, "nvmlDeviceGetMemoryInfo:total", &memory->total);
  return status != nvml::kSuccess ? status
                                  : answer(function, "nvmlDeviceGetMemoryInfo:used", &memory->used);
}
int nvmlDeviceGetEccMode(nvml::Device /*device*/, unsigned* current, unsigned* pending) {
  *pending = 0;
  return answer("nvmlDeviceGetEccMode", current);
}
int nvmlDeviceGetMigMode(nvml::Device /*device*/, unsigned* current, unsigned* pending) {
  *pending = 0;
  return answer("nvmlDeviceGetMigMode", current);
}
int nvmlDeviceGetPersistenceMode(nvml::Device /*device*/, unsigned* enabled) {
  return answer("nvmlDeviceGetPersistenceMode", enabled);
}
int nvmlDeviceGetTotalEccErrors(nvml::Device /*device*/, unsigned type, unsigned /*counter*/,
                                unsigned long long* count) {
  return answer_of("nvmlDeviceGetTotalEccErrors", type, count);
}
int nvmlDeviceGetClockInfo(nvml::Device /*device*/, unsigned type, unsigned* mhz) {
  return answer_of("nvmlDeviceGetClockInfo", type, mhz);
}
int nvmlDeviceGetMaxClockInfo(nvml::Device /*device*/, unsigned type, unsigned* mhz) {
  return answer_of("nvmlDeviceGetMaxClockInfo", type, mhz);
}
int nvmlDeviceGetEnforcedPowerLimit(nvml::Device /*device*/, unsigned* milliwatts) {
  return answer("nvmlDeviceGetEnforcedPowerLimit", milliwatts);
}
int nvmlDeviceGetPowerManagementDefaultLimit(nvml::Device /*device*/, unsigned* milliwatts) {
  return answer("nvmlDeviceGetPowerManagementDefaultLimit", milliwatts);
}
int nvmlDeviceGetPowerUsage(nvml::Device /*device*/, unsigned* milliwatts) {
  return answer("nvmlDeviceGetPowerUsage", milliwatts);
}
int nvmlDeviceGetTemperature(nvml::Device /*device*/, unsigned /*sensor*/, unsigned* celsius) {
  return answer("nvmlDeviceGetTemperature", celsius);
}
int nvmlDeviceGetUtilizationRates(nvml::Device /*device*/, nvml::Utilization* rates) {
  return answer("nvmlDeviceGetUtilizationRates", &rates->gpu);
}
int nvmlDeviceGetCurrPcieLinkGeneration(nvml::Device /*device*/, unsigned* generation) {
  return answer("nvmlDeviceGetCurrPcieLinkGeneration", generation);
}
int nvmlDeviceGetCurrPcieLinkWidth(nvml::Device /*device*/, unsigned* width) {
  return answer("nvmlDeviceGetCurrPcieLinkWidth", width);
}
int nvmlDeviceGetMaxPcieLinkGeneration(nvml::Device /*device*/, unsigned* generation) {
  return answer("nvmlDeviceGetMaxPcieLinkGeneration", generation);
}
int nvmlDeviceGetMaxPcieLinkWidth(nvml::Device /*device*/, unsigned* width) {
  return answer("nvmlDeviceGetMaxPcieLinkWidth", width);
}

#ifdef FAKE_NVML_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(nvml::Device /*device*/, unsigned long long* bits) {
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons", bits);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(nvml::Device /*device*/, unsigned long long* bits) {
  return answer("nvmlDeviceGetCurrentClocksEventReasons", bits);
}
int nvmlDeviceGetTotalEnergyConsumption(nvml::Device /*device*/, unsigned long long* millijoules) {
  return answer("nvmlDeviceGetTotalEnergyConsumption", millijoules);
}
int nvmlDeviceGetViolationStatus(nvml::Device /*device*/, unsigned policy,
                                 nvml::ViolationTime* time) {
  return answer_of("nvmlDeviceGetViolationStatus", policy, &time->violation_ns);
}
int nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device /*device*/, unsigned* count,
                                            nvml::ProcessInfo* processes) {
  unsigned ignored = 0;
  const int status = answer("nvmlDeviceGetComputeRunningProcesses_v3", &ignored);
  if (status != nvml::kSuccess) {
    return status;
  }
  const auto& running = table().processes;
  if (*count < running.size()) {
    *count = static_cast<unsigned>(running.size());
    return nvml::kInsufficientSize;
  }
  *count = 0;
  for (const auto& [pid, memory] : running) {
    const auto instance = table().gpu_instances.find(pid);
    processes[(*count)++] = {
        .pid = pid,
        .used_memory = memory,
        .gpu_instance = instance == table().gpu_instances.end() ? 0 : instance->second,
        .compute_instance = 0};
  }
  return nvml::kSuccess;
}
#endif

}  // extern "C"

// NOLINTEND(readability-identifier-naming)

#pragma once

#include <dlfcn.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "models/base/errors.h"

namespace bench {

/// The answers of the library of fake_nvml.cc. The initial answers describe an idle H100 without
/// other programs.
struct FakeNvml {
  /// The answers to successive calls, by function; the last answer repeats. If a function takes a
  /// number first, the key ends with a colon and that number ("nvmlDeviceGetClockInfo:1").
  std::map<std::string, std::vector<unsigned long long>> answers;
  /// By function: the status of each call, if it is not 0.
  std::map<std::string, int> failures;
  /// The memory of each program on the card, including that of this process.
  std::map<unsigned, unsigned long long> processes;
  /// By process; 0 for others.
  std::map<unsigned, unsigned> gpu_instances;
  /// Calls by function, and the threads that made them.
  std::map<std::string, int> calls;
  std::vector<std::thread::id> threads;
  /// Called during each of them.
  std::function<void(const std::string& function)> on_call;
};

/// Opens a fake library and holds its table, which is reset for each object.
class FakeNvmlLibrary {
 public:
  explicit FakeNvmlLibrary(const char* library) : path(library) {
    handle_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    check(handle_ != nullptr, "the fake NVML cannot be opened");
    auto* const begin = reinterpret_cast<FakeNvml* (*)()>(dlsym(handle_, "fake_nvml_begin"));
    check(begin != nullptr, "the fake NVML is not the tests' own");
    table = begin();
  }
  ~FakeNvmlLibrary() { dlclose(handle_); }
  FakeNvmlLibrary(const FakeNvmlLibrary&) = delete;
  FakeNvmlLibrary& operator=(const FakeNvmlLibrary&) = delete;

  FakeNvml& operator*() const { return *table; }
  FakeNvml* operator->() const { return table; }

  const std::string path;
  FakeNvml* table = nullptr;

 private:
  void* handle_ = nullptr;
};

inline constexpr const char* kFakeBus = "0000:00:00.0";

}  // namespace bench

#pragma once

#include <dlfcn.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "models/base/errors.h"

namespace bench {

/// What the library of fake_nvml.cc answers. It begins as a quiet H100 on which nobody else
/// computes.
struct FakeNvml {
  /// By function, with its first number behind a colon where it takes one
  /// ("nvmlDeviceGetClockInfo:1"): the answers to one call after the other; the last one stays.
  std::map<std::string, std::vector<unsigned long long>> answers;
  /// By function: the status of each call, where it is not 0.
  std::map<std::string, int> failures;
  /// Of the programs on the card, and the memory of each; of the process itself it is its own.
  std::map<unsigned, unsigned long long> processes;
  /// Calls by function, and the threads that made them.
  std::map<std::string, int> calls;
  std::vector<std::thread::id> threads;
  /// Called in each of them.
  std::function<void(const std::string& function)> on_call;
};

/// A FakeNvml's own table, new for each test that holds one of these.
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

#include "kernels/gpu_emulator/faults.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "kernels/gpu_emulator/block.h"
#include "kernels/gpu_emulator/machine.h"

namespace bench::cuda::emulator {
namespace {

std::atomic<const Machine*> watched = nullptr;
struct sigaction previous = {};

void print(const char* text) {
  // If the write fails, nothing can be done.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

/// Writes who runs, as far as a signal handler can find out, to `text`.
void name_task(const Machine& machine, char* text, std::size_t size) {
  if (position.kernel != nullptr) {
    const auto [x, y, z] = position.block;
    std::snprintf(text, size, "kernel %s, block (%u, %u, %u), lane %u", position.kernel, x, y, z,
                  position.lane);
  } else {
    std::snprintf(text, size, "%s", machine.running_task().c_str());
  }
}

void say(const Machine& machine, const void* address) {
  constexpr std::size_t kTextBytes = 256;
  char task[kTextBytes] = "";
  char place[kTextBytes] = "";
  char sentence[3 * kTextBytes] = "";
  const bool on_device = machine.memory().in_arena(address);
  if (Machine::runs_task()) {
    name_task(machine, task, sizeof task);
    if (on_device) {
      machine.memory().describe(address, place, sizeof place);
    }
    std::snprintf(sentence, sizeof sentence, "%s: accessed %p: %s\n", task, address,
                  on_device ? place : "not device memory");
  } else if (on_device) {
    std::snprintf(sentence, sizeof sentence, "the host accessed device memory at %p\n", address);
  }
  print(sentence);
}

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  const Machine& machine = *watched.load();
  say(machine, info->si_addr);
  // On return the access is retried; the signal then goes to the default or the previous handler.
  if (machine.memory().in_arena(info->si_addr)) {
    std::signal(signal, SIG_DFL);
  } else {
    sigaction(signal, &previous, nullptr);
  }
}

}  // namespace

void watch_faults(const Machine& machine) {
  watched = &machine;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &previous);
}

}  // namespace bench::cuda::emulator

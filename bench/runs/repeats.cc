#include "bench/runs/repeats.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <ostream>

#include "bench/runs/text_table.h"
#include "models/base/errors.h"
#include "models/base/output_target.h"
#include "results/identity.h"
#include "results/stats/group_summary.h"
#include "results/stats/sequential.h"
#include "results/store/record_files.h"

namespace bench {
namespace {

constexpr double kPerCent = 100;
constexpr std::chrono::milliseconds kLook{20};

std::string decimals_of(double value, int digits) {
  return cat(std::fixed, std::setprecision(digits), value);
}

/// Whether the runs may end here. Between the looks they may not: looking at every run would find
/// a narrow interval by chance.
bool narrow_enough(const RepeatSettings& settings, std::span<const double> values) {
  const auto& looks = results::stats::kLooks;
  if (!settings.until_ci || std::find(looks.begin(), looks.end(), values.size()) == looks.end()) {
    return false;
  }
  const std::optional<double> half = results::stats::look_half_width(values);
  return half && *half <= *settings.until_ci;
}

/// This process's environment with other values of some variables.
class ChildEnvironment {
 public:
  explicit ChildEnvironment(const std::vector<std::pair<std::string, std::string>>& changed) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      bool replaced = false;
      for (const auto& [name, value] : changed) replaced = replaced || text.starts_with(name + "=");
      if (!replaced) texts_.push_back(text);
    }
    for (const auto& [name, value] : changed) texts_.push_back(cat(name, "=", value));
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_{};
  std::vector<char*> pointers_{};
};

/// A process group of its own, so that a terminal's Ctrl-C comes to this program alone, which hands
/// it on.
pid_t start(std::vector<std::string> words, const ChildEnvironment& environment) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/proc/self/exe", nullptr, &attributes, arguments.data(),
                                  environment.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw DeviceError(cat("posix_spawn: ", std::strerror(error)));
  }
  return child;
}

/// Its exit status, or 128 + the signal that ended it. A signal that ends this program ends it too.
int wait_for(pid_t child, const InterruptGuard& interrupt) {
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done < 0 && errno != EINTR) {
      throw DeviceError(cat("waitpid: ", std::strerror(errno)));
    }
    if (done == child) {
      constexpr int kSignalled = 128;
      return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
    }
    if (interrupt.requested() && !told) {
      ::kill(child, interrupt.signal());
      told = true;
    }
    (void)::poll(nullptr, 0, static_cast<int>(kLook.count()));
  }
}

/// Where the runs leave their records for this program.
class ScratchFile {
 public:
  ScratchFile() {
    std::string name = (std::filesystem::temp_directory_path() / "bench_repeat.XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) {
      throw DeviceError(
          cat("no temporary file can be made for the repeats' records: ", std::strerror(errno)));
    }
    ::close(descriptor);
    path_ = name;
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string path_of_repeat(const std::string& path, int repeat) {
  const std::filesystem::path whole(path);
  std::filesystem::path name = whole.stem();
  name += cat(".repeat", repeat);
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

RunSettings settings_of_repeat(RunSettings settings) {
  if (!settings.record.own_repeat) {
    return settings;
  }
  for (auto* path :
       {&settings.files.result, &settings.files.save_variables, &settings.files.trace}) {
    // A stream takes what all runs write, one after the other.
    if (*path && find_output(**path, "file of a run").kind == OutputTarget::Kind::file) {
      *path = path_of_repeat(**path, *settings.record.own_repeat);
    }
  }
  if (settings.files.benchmark_logs) {
    settings.files.benchmark_logs =
        path_of_repeat(*settings.files.benchmark_logs, *settings.record.own_repeat);
  }
  return settings;
}

void print_repeats(std::ostream& out, std::span<const double> images_per_second) {
  if (images_per_second.empty()) {
    return;
  }
  TextTable table({{.title = "run", .right = true}, {.title = "images/sec", .right = true}});
  for (std::size_t i = 0; i < images_per_second.size(); ++i) {
    table.add_row({cat(i), decimals_of(images_per_second[i], 2)});
  }
  const results::stats::GroupSummary summary = results::stats::group_summary(images_per_second);
  out << table << "median of " << summary.n << " runs: " << decimals_of(summary.median, 2)
      << " images/sec";
  if (summary.interval) {
    out << ", 95 % interval " << decimals_of(summary.interval->low, 2) << " to "
        << decimals_of(summary.interval->high, 2);
  } else {
    out << ", from " << decimals_of(summary.min, 2) << " to " << decimals_of(summary.max, 2)
        << " (a 95 % interval takes 6 runs)";
  }
  out << "\n" << std::flush;
}

int repeat(const RepeatSettings& settings, const std::function<RepeatOutcome(int repeat)>& run,
           const std::function<void()>& wait, const std::function<bool()>& interrupted,
           const RunStreams& streams) {
  std::vector<double> speeds;
  int status = 0;
  for (int i = 0; i < settings.runs && !interrupted(); ++i) {
    if (i > 0) wait();
    if (interrupted()) break;
    streams.err << "repeat " << i + 1 << " of " << (settings.until_ci ? "at most " : "")
                << settings.runs << "\n"
                << std::flush;
    const RepeatOutcome outcome = run(i);
    status = outcome.status;
    if (status != 0) break;
    speeds.push_back(outcome.images_per_second);
    if (narrow_enough(settings, speeds)) break;
  }
  print_repeats(streams.out, speeds);
  const auto half = results::stats::look_half_width(speeds);
  if (settings.until_ci && status == 0 && !interrupted() && !narrow_enough(settings, speeds)) {
    streams.err << "--until_ci: half the interval is "
                << (half ? cat(decimals_of(kPerCent * *half, 2), " %") : "not known")
                << " of the median, not " << decimals_of(kPerCent * *settings.until_ci, 2)
                << " %, after all " << speeds.size() << " runs\n";
  }
  return status;
}

int run_repeats(const RunSettings& settings, RunHost& host) {
  const RepeatSettings& repeats = settings.record.repeats;
  const std::string group = results::new_run_uuid(std::chrono::system_clock::now());
  const ScratchFile scratch;
  const auto run = [&](int index) {
    const ChildEnvironment environment(
        {{kGroupVariable, to_text({.group = group, .repeat = index, .order = index})},
         {kRepeatsVariable, "1"},
         {kRecordVariable, scratch.path()}});
    RepeatOutcome outcome{.status =
                              wait_for(start(host.command_line, environment), host.interrupt)};
    if (outcome.status == 0) {
      const results::StoredRun record = results::read_runs(scratch.path()).at(0);
      outcome.images_per_second = record.metrics.at("images_per_sec").value;
    }
    return outcome;
  };
  const auto wait = [&] {
    const auto end =
        host.clock.now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::duration<double>(repeats.cooldown_seconds));
    while (host.clock.now() < end && !host.interrupt.requested()) {
      (void)::poll(nullptr, 0, static_cast<int>(kLook.count()));
    }
  };
  host.streams.out.flush();
  const int status = repeat(
      repeats, run, wait, [&] { return host.interrupt.requested(); }, host.streams);
  host.streams.err << "group: " << group << "\n";
  return host.interrupt.requested() ? host.interrupt.exit_status() : status;
}

}  // namespace bench

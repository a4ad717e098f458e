#include "bench/runs/child_runs.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "bench/runs/run_world.h"
#include "bench/terminal/stderr_lines.h"
#include "models/base/errors.h"
#include "results/record/identity.h"
#include "results/store/record_files.h"
#include "variable_mgmt/world/launch.h"

namespace bench {
namespace {

constexpr int kLookMilliseconds = 20;

/// This process's environment with changed values of some variables.
class ChildEnvironment {
 public:
  explicit ChildEnvironment(const std::vector<std::pair<std::string, std::string>>& changed) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      bool replaced = false;
      for (const auto& [name, value] : changed) replaced = replaced || text.starts_with(name + "=");
      if (!replaced) texts_.push_back(text);
    }
    for (const auto& [name, value] : changed) texts_.push_back(fmt::format("{}={}", name, value));
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_{};
  std::vector<char*> pointers_{};
};

/// Starts a separate process group, so that a terminal's Ctrl-C reaches only this program, which
/// forwards it.
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
    throw DeviceError(fmt::format("posix_spawn failed: {}", std::strerror(error)));
  }
  return child;
}

/// Waits for the wait status of the child. A signal that ends this program ends the child too.
int wait_for(pid_t child, const InterruptGuard& interrupt) {
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done < 0 && errno != EINTR) {
      throw DeviceError(fmt::format("waitpid failed: {}", std::strerror(errno)));
    }
    if (done == child) {
      return status;
    }
    if (interrupt.requested() && !told) {
      ::kill(child, interrupt.signal());
      told = true;
    }
    (void)::poll(nullptr, 0, kLookMilliseconds);
  }
}

/// A run that ends itself has printed its reason.
void warn_of_signal(std::ostream& err, int signal) {
  const char* const name = ::sigabbrev_np(signal);
  err << stderr_line::warning << "the run was ended by "
      << (name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name));
  if (signal == SIGKILL) {
    err << "; if nobody sent the signal, the system probably ran out of memory (see dmesg)";
  }
  err << "\n" << std::flush;
}

}  // namespace

std::string speed_title(const results::StoredRun& run) {
  std::string title = results::speed_metric(run);
  constexpr std::string_view kPer = "_per_";
  return title.replace(title.find(kPer), kPer.size(), "/");
}

void end_with_parent() {
  if (std::getenv(kRecordVariable) != nullptr) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
}

/// The file in which the runs leave their records for this program.
class ChildRuns::ScratchFile {
 public:
  ScratchFile() {
    std::string name = (std::filesystem::temp_directory_path() / "bench_run.XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) {
      throw DeviceError(fmt::format("cannot create a temporary file for the runs' records: {}",
                                    std::strerror(errno)));
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

ChildRuns::ChildRuns(RunHost& host)
    : host_(host),
      group_(results::new_run_uuid(std::chrono::system_clock::now())),
      scratch_(std::make_unique<ScratchFile>()) {}

ChildRuns::~ChildRuns() = default;

ChildOutcome ChildRuns::run(const ChildRun& child) {
  GroupPlace place = child.place;
  place.group = group_;
  std::vector<std::pair<std::string, std::string>> variables = child.variables;
  variables.emplace_back(kGroupVariable, to_text(place));
  variables.emplace_back(kRecordVariable, scratch_->path());
  if (is_launched()) {
    variables.emplace_back(kMpiVariable, "none");  // The launcher's variables are for this process.
  }
  std::vector<std::string> words = host_.command_line;
  words.insert(words.end(), child.words.begin(), child.words.end());
  std::filesystem::resize_file(scratch_->path(), 0);  // Removes the previous record.
  host_.streams.out.flush();
  const pid_t process = start(std::move(words), ChildEnvironment(variables));
  host_.interrupt.end_with(process);
  const int status = wait_for(process, host_.interrupt);
  host_.interrupt.end_with(0);
  constexpr int kSignalled = 128;
  ChildOutcome outcome{.status =
                           WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status)};
  if (WIFSIGNALED(status) && !host_.interrupt.requested()) {
    warn_of_signal(host_.streams.err, WTERMSIG(status));
  }
  if (outcome.status == 0) {
    outcome.record = results::read_runs(scratch_->path()).at(0);
  }
  return outcome;
}

}  // namespace bench

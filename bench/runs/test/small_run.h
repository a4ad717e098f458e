#pragma once

#include <sstream>
#include <string_view>
#include <vector>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "bench/runs/prepare.h"
#include "bench/runs/run.h"
#include "results/environment/test/fake_system.h"

namespace bench {

/// A run of LeNet on the reference device, on a machine without any facts: two images per step, one
/// warm-up step, three measured steps.
class SmallRun {
 public:
  explicit SmallRun(const std::vector<std::string_view>& more = {})
      : parsed_(parse_with(more)), settings_(resolve_settings(parsed_)) {}

  Begun begin() { return begin_run({.settings = settings_, .parsed = parsed_}, host); }
  RunOutcome run() { return run_once({.settings = settings_, .parsed = parsed_}, host); }
  [[nodiscard]] const FakeSystem& system() const { return system_; }
  [[nodiscard]] const RunSettings& settings() const { return settings_; }
  /// Makes standard output unwritable.
  void close_output() { out_.setstate(std::ios::badbit); }
  [[nodiscard]] std::string out() const { return out_.str(); }
  [[nodiscard]] std::string err() const { return err_.str(); }

 private:
  static ParseResult parse_with(const std::vector<std::string_view>& more) {
    std::vector<std::string_view> arguments{"--model=lenet", "--device=reference", "--batch_size=2",
                                            "--num_warmup_batches=1", "--num_batches=3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse(arguments);
  }

  FakeSystem system_;
  std::ostringstream out_;
  std::ostringstream err_;
  RunStreams streams_{.out = out_, .err = err_};
  ParseResult parsed_;
  RunSettings settings_;

 public:
  RunHost host{streams_, {"bench", "--x"}, system_.files()};
};

}  // namespace bench

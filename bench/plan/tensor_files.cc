#include "bench/plan/tensor_files.h"

#include <cstdlib>

#include "bench/plan/checkpoint.h"
#include "bench/plan/input.h"
#include "models/base/crc32c.h"
#include "models/base/errors.h"
#include "results/record/build_info.h"

namespace bench {
RunTensorFiles::RunTensorFiles(const RunSettings& settings, const Graph& network)
    : settings_(settings) {
  const OutputFiles& files = settings.outputs.files;
  if (settings.workload.init_from) {
    source_.emplace(*settings.workload.init_from);
    const bool any_model = !settings.workload.evaluation() || settings.workload.init_from_partial;
    check_source(*source_, settings.workload.model->name, any_model);
    plan_ = plan_load(*source_, network,
                      settings.workload.init_from_partial ? LoadMode::partial : LoadMode::complete);
  }
  if (settings.workload.input.file) {
    make_run_input(settings, Layout("nchw"));  // Throws when the file does not fit.
  }
  if (files.save_variables) {
    save_.emplace(*files.save_variables, "file of --save_variables");
  }
  if (files.dump_tensors) {
    dump_.emplace(*files.dump_tensors, "file of --dump_tensors");
  }
}

std::vector<std::string> RunTensorFiles::notices() const {
  if (!source_) {
    return {};
  }
  std::vector<std::string> notices{fmt::format(
      "--{}: {} of {} variables are initialized from {}",
      settings_.workload.evaluation() ? "eval" : settings_.workload.init_flag, plan_.names.size(),
      plan_.names.size() + plan_.missing + plan_.misshapen, source_->name())};
  if (plan_.extra > 0) {
    notices.front() += fmt::format("; {} of its tensors are not used", plan_.extra);
  }
  if (plan_.misshapen > 0) {
    notices.push_back(fmt::format("--{}: skipped because shape or type differs: {}",
                                  settings_.workload.init_flag == "init_from"
                                      ? "init_from_partial"
                                      : settings_.workload.init_flag,
                                  plan_.misfits));
  }
  return notices;
}

void RunTensorFiles::load(InitialValues& values, const Watch& watch) const {
  if (source_) {
    load_variables(*source_, plan_, values, watch);
  }
}

std::string RunTensorFiles::loaded_sum(const InitialValues& values) const {
  std::string sums;
  for (const std::string& name : plan_.names) {
    const auto bytes = std::as_bytes(std::span(values.at(name)));
    sums +=
        fmt::format("{:08x} ", crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  return source_ ? fmt::format("{:08x}", crc32c(sums)) : "";
}

std::int64_t RunTensorFiles::source_step() const {
  if (!source_) {
    return 0;
  }
  const auto found = source_->metadata().find("global_step");
  return found == source_->metadata().end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
}

void RunTensorFiles::write_dump(std::span<const TensorToWrite> tensors) const {
  write_tensor_file(dump_.value(), tensors, metadata(0));
}

void RunTensorFiles::save(Executor& executor, std::int64_t global_step) const {
  if (save_) {
    save_variables(executor, *save_, metadata(global_step));
  }
}

std::map<std::string, std::string> RunTensorFiles::metadata(std::int64_t global_step) const {
  return {{"format", "bench"},
          {"bench_version", results::source_info().bench_version},
          {"model", std::string(settings_.workload.model->name)},
          {"dataset", std::string(settings_.workload.dataset->name)},
          {"global_step", std::to_string(global_step)}};
}

}  // namespace bench

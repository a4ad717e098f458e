#include "bench/flags/resolve.h"

#include "bench/flags/check.h"
#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {

Placement resolve_placement(const Flags& flags, const std::string& no_gpu) {
  Placement placement{.device = flags.device.value_or(no_gpu.empty() ? "gpu" : "cpu"),
                      .data_format = flags.data_format.value_or("auto"),
                      .notices = {}};
  if (!flags.device && !no_gpu.empty()) {
    placement.notices.push_back(fmt::format(
        "--device: not given; bench uses the CPU because no GPU can be used: {}", no_gpu));
  }
  if (!flags.data_format && placement.device == "gpu") {
    placement.data_format = "NHWC";
    placement.notices.emplace_back(
        "--data_format: not given; bench uses NHWC, the layout of a GPU's tensor cores "
        "(tf_cnn_benchmarks uses NCHW)");
  }
  if (placement.device == "cpu" && placement.data_format == "NCHW") {
    placement.notices.emplace_back(
        "--data_format=NCHW is slower on the CPU than auto, the default");
  }
  return placement;
}

std::string resolve_data_name(const Flags& flags) {
  if (flags.data_name) {
    return *flags.data_name;
  }
  if (!flags.data_dir) {
    return "imagenet";
  }
  const FlagRow& row = *find_flag("data_name");
  const std::vector<std::string_view> names = split_words(row.accepted.values);
  for (const std::string_view name : names) {
    if (flags.data_dir->find(name) != std::string::npos) {
      return std::string(name);
    }
  }
  throw UsageError(fmt::format(
      "--data_dir={}: the path contains no dataset name; give --data_name, one of {}. For "
      "JPEG files of your own in a folder per class, give --data_name=imagenet",
      *flags.data_dir, describe_values(row)));
}

}  // namespace bench

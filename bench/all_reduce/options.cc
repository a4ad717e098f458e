#include "bench/all_reduce/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iomanip>
#include <limits>
#include <ostream>

#include "models/base/errors.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr std::string_view kDefaultSizes = "1K:256M:4";

std::string_view prefix(std::string_view text, char end) { return text.substr(0, text.find(end)); }

[[noreturn]] void refuse(std::string_view flag, std::string_view text, std::string_view accepted) {
  throw UsageError(fmt::format("--{}={}: must be {}", flag, text, accepted));
}

std::int64_t read_whole(std::string_view flag, std::string_view text, std::int64_t least) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least ||
      number > std::numeric_limits<int>::max()) {
    refuse(flag, text, fmt::format("a whole number of at least {}", least));
  }
  return number;
}

int read_count(std::string_view flag, std::string_view text, std::int64_t least) {
  return static_cast<int>(read_whole(flag, text, least));
}

/// Parses "64K": K, M and G are powers of 1024; returns 0 if the text is not a size.
std::size_t read_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  constexpr std::size_t kBits = 10;
  constexpr std::size_t kMost = std::size_t{1} << 40;
  std::size_t shift = 0;
  if (!text.empty() && kUnits.find(text.back()) != std::string_view::npos) {
    shift = (kUnits.find(text.back()) + 1) * kBits;
    text.remove_suffix(1);
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > kMost >> shift) {
    return 0;
  }
  return number << shift;
}

/// Parses "1K:64M:4": first, last, and the factor between sizes.
std::vector<std::size_t> read_sizes(std::string_view flag, std::string_view text) {
  constexpr std::string_view kAccepted =
      "one size, or FROM:TO:FACTOR with sizes in bytes, K, M or G, FROM at most TO, and a factor "
      "of at least 2";
  const std::string_view from = prefix(text, ':');
  const std::size_t first = read_bytes(from);
  if (first == 0) {
    refuse(flag, text, kAccepted);
  }
  if (from.size() == text.size()) {
    return {first};
  }
  const std::string_view rest = text.substr(from.size() + 1);
  const std::string_view to = prefix(rest, ':');
  const std::size_t last = read_bytes(to);
  const std::size_t factor = read_bytes(rest.substr(std::min(to.size() + 1, rest.size())));
  if (last < first || factor < 2) {
    refuse(flag, text, kAccepted);
  }
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last; size *= factor) {
    sizes.push_back(size);
  }
  return sizes;
}

DType read_dtype(std::string_view flag, std::string_view text) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    if (text == name_of(dtype)) {
      return dtype;
    }
  }
  refuse(flag, text, "one of f32, bf16, f16, f64");
}

std::vector<std::string> read_specs(std::string_view text) {
  std::vector<std::string> specs;
  while (true) {
    const std::string_view spec = prefix(text, ',');
    specs.emplace_back(spec);
    if (spec.size() == text.size()) {
      return specs;
    }
    text.remove_prefix(spec.size() + 1);
  }
}

std::string read_model(std::string_view flag, std::string_view text) {
  const std::string_view name = listed_model_name(text);
  if (name.empty()) {
    refuse(flag, text, "a network that bench --list_models lists");
  }
  return std::string(name);
}

bool read_on_gpus(std::string_view flag, std::string_view text) {
  if (text != "cpu" && text != "gpu") {
    refuse(flag, text, "cpu or gpu");
  }
  return text == "gpu";
}

struct OptionRow {
  std::string_view name;
  std::string_view value;
  std::string_view help;
  void (*read)(AllReduceOptions& options, std::string_view flag, std::string_view text);
};

constexpr std::array<OptionRow, 15> kRows = {{
    {"model", "NAME",
     "add gradients shaped like this network's trainable variables, last one first",
     [](auto& o, auto flag, auto text) { o.model = read_model(flag, text); }},
    {"sizes", "FROM:TO:FACTOR",
     "without --model: bytes per tower, one size or a range such as 1K:256M:4",
     [](auto& o, auto flag, auto text) { o.sizes = read_sizes(flag, text); }},
    {"num_gpus", "N", "number of towers; default 2",
     [](auto& o, auto flag, auto text) { o.towers = read_count(flag, text, 1); }},
    {"device", "TYPE", "cpu, or gpu with one GPU per tower; default cpu",
     [](auto& o, auto flag, auto text) { o.on_gpus = read_on_gpus(flag, text); }},
    {"num_intra_threads", "N",
     "threads of each CPU tower; by default, the towers share the cores equally",
     [](auto& o, auto flag, auto text) { o.threads = read_count(flag, text, 1); }},
    {"dtype", "TYPE", "f32, bf16, f16 or f64; default f32",
     [](auto& o, auto flag, auto text) { o.dtype = read_dtype(flag, text); }},
    {"all_reduce_spec", "SPEC,...",
     "algorithms to time, written as for bench; default: all available ones",
     [](auto& o, auto /*flag*/, auto text) { o.specs = read_specs(text); }},
    {"agg_small_grads_max_bytes", "N", "pack gradients of at most N bytes; default 0: no packs",
     [](auto& o, auto flag, auto text) { o.small_max_bytes = read_whole(flag, text, 0); }},
    {"agg_small_grads_max_group", "N", "close a pack that spans more than N positions; default 10",
     [](auto& o, auto flag, auto text) { o.small_max_group = read_whole(flag, text, 0); }},
    {"gradient_repacking", "N",
     "join all gradients and split them into N packs; default 0: no packs",
     [](auto& o, auto flag, auto text) { o.repacking = read_whole(flag, text, 0); }},
    {"allreduce_bucket_mb", "N",
     "add gradients in buckets of at most N MiB; default 0: no buckets (bench: 25)",
     [](auto& o, auto flag, auto text) { o.bucket_mb = read_whole(flag, text, 0); }},
    {"iters_per_step", "N", "consecutive all-reduces in a step; default 5",
     [](auto& o, auto flag, auto text) { o.iters_per_step = read_count(flag, text, 1); }},
    {"num_batches", "N", "timed steps; default 20",
     [](auto& o, auto flag, auto text) { o.num_batches = read_count(flag, text, 1); }},
    {"num_warmup_batches", "N", "untimed warm-up steps; default 2",
     [](auto& o, auto flag, auto text) { o.num_warmup_batches = read_count(flag, text, 0); }},
    {"result_file", "PATH",
     "also write every time as JSON; -: write JSON to stdout instead of the table",
     [](auto& o, auto /*flag*/, auto text) { o.result_file = std::string(text); }},
}};

void check_combination(const AllReduceOptions& options) {
  if (!options.model.empty() && !options.sizes.empty()) {
    throw UsageError("--model and --sizes cannot be combined: give one of them");
  }
  const int ways = (options.small_max_bytes > 0 ? 1 : 0) + (options.repacking > 0 ? 1 : 0) +
                   (options.bucket_mb > 0 ? 1 : 0);
  if (ways > 0 && options.model.empty()) {
    throw UsageError(
        "--agg_small_grads_max_bytes, --gradient_repacking and --allreduce_bucket_mb pack the "
        "gradients of a network: give --model");
  }
  for (const std::size_t size : options.sizes) {
    if (size % size_of(options.dtype) != 0) {
      throw UsageError(
          fmt::format("--sizes: {} is not a multiple of {}, the bytes of one element of {}", size,
                      size_of(options.dtype), name_of(options.dtype)));
    }
  }
  if (options.on_gpus && options.threads) {
    throw UsageError("--num_intra_threads is for CPU towers: remove it or --device=gpu");
  }
  for (const std::string& spec : options.specs) {
    check_all_reduce_spec(spec, options.towers, {.nccl = options.on_gpus, .timed = false});
    if (spec == "auto") {
      throw UsageError(
          "--all_reduce_spec=auto: remove the flag to time every algorithm that auto chooses from");
    }
    if (adds_by_nccl(parse_all_reduce_spec(spec)) && !options.on_gpus) {
      throw UsageError("--all_reduce_spec=nccl: NCCL needs GPUs; add --device=gpu");
    }
  }
  if (ways > 1) {
    throw UsageError(
        "--agg_small_grads_max_bytes, --gradient_repacking and --allreduce_bucket_mb cannot be "
        "combined: give one of them");
  }
}

}  // namespace

AllReduceOptions read_options(std::span<const std::string_view> arguments) {
  AllReduceOptions options;
  for (const std::string_view argument : arguments) {
    if (argument == "--help") {
      options.help = true;
      return options;
    }
    const std::string_view given = prefix(argument, '=');
    const auto* const row =
        std::find_if(kRows.begin(), kRows.end(), [given](const OptionRow& each) {
          return given.starts_with("--") && given.substr(2) == each.name;
        });
    if (row == kRows.end()) {
      throw UsageError(fmt::format("{}: unknown flag; --help lists all flags", argument));
    }
    if (given.size() == argument.size()) {
      throw UsageError(
          fmt::format("{}: the value is missing; give {}={}", argument, argument, row->value));
    }
    row->read(options, row->name, argument.substr(given.size() + 1));
  }
  check_combination(options);
  if (options.sizes.empty()) {
    options.sizes = read_sizes("sizes", kDefaultSizes);
  }
  return options;
}

void print_usage(std::ostream& out) {
  constexpr int kWidth = 36;
  out << "bench_all_reduce: times the all-reduce of gradients between the towers of one host.\n\n"
         "Usage: bench_all_reduce [--model=resnet50 | --sizes=1K:256M:4] [--flag=value]...\n\n";
  for (const OptionRow& row : kRows) {
    out << "  " << std::left << std::setw(kWidth) << fmt::format("--{}={}", row.name, row.value)
        << row.help << "\n";
  }
}

}  // namespace bench

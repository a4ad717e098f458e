#include "bench/all_reduce/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <ostream>

#include "models/base/command_line.h"
#include "models/base/errors.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

std::string_view prefix(std::string_view text, char end) { return text.substr(0, text.find(end)); }

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
std::vector<std::size_t> read_sizes(std::string_view text) {
  const std::string_view from = prefix(text, ':');
  const std::size_t first = read_bytes(from);
  std::size_t last = first;
  std::size_t factor = 2;
  if (from.size() < text.size()) {
    const std::string_view rest = text.substr(from.size() + 1);
    const std::string_view to = prefix(rest, ':');
    last = read_bytes(to);
    factor = read_bytes(rest.substr(std::min(to.size() + 1, rest.size())));
  }
  if (first == 0 || last < first || factor < 2) {
    throw UsageError(
        fmt::format("--sizes={}: must be one size, or FROM:TO:FACTOR with sizes in bytes, K, M or "
                    "G, FROM at most TO, and a factor of at least 2",
                    text));
  }
  std::vector<std::size_t> sizes{first};
  while (sizes.back() <= last / factor) {
    sizes.push_back(sizes.back() * factor);
  }
  return sizes;
}

/// The dtype with this name, which the table of options accepts.
DType read_dtype(std::string_view text) {
  constexpr std::array kTypes = {DType::f32, DType::bf16, DType::f16, DType::f64};
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [text](DType dtype) { return text == name_of(dtype); });
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

std::string read_model(std::string_view text) {
  const std::string_view name = listed_model_name(text);
  if (name.empty()) {
    throw UsageError(
        fmt::format("--model={}: must be a network that bench --list_models lists", text));
  }
  return std::string(name);
}

constexpr std::array kOptions = {
    Option{.name = "model",
           .value = "NAME",
           .meaning = "add gradients shaped like this network's trainable variables, last one "
                      "first"},
    Option{.name = "sizes",
           .value = "FROM:TO:FACTOR",
           .fallback = "1K:256M:4",
           .meaning = "without --model: bytes per tower, one size or a range"},
    Option{.name = "num_gpus",
           .value = "N",
           .fallback = "2",
           .meaning = "number of towers per process; with several processes, the default is 1"},
    Option{.name = "device",
           .value = "TYPE",
           .fallback = "cpu",
           .accepted = "cpu gpu",
           .meaning = "CPU threads, or one GPU per tower"},
    Option{.name = "num_intra_threads",
           .value = "N",
           .meaning = "threads of each CPU tower; by default, the towers share the cores equally"},
    Option{.name = "dtype",
           .value = "TYPE",
           .fallback = "f32",
           .accepted = "f32 bf16 f16 f64",
           .meaning = "type of the elements"},
    Option{.name = "all_reduce_spec",
           .value = "SPEC,...",
           .meaning = "algorithms to time, written as for bench; default: all available ones"},
    Option{.name = "agg_small_grads_max_bytes",
           .value = "N",
           .fallback = "0",
           .meaning = "pack gradients of at most N bytes; 0: no packs"},
    Option{.name = "agg_small_grads_max_group",
           .value = "N",
           .fallback = "10",
           .meaning = "close a pack that spans more than N positions"},
    Option{.name = "gradient_repacking",
           .value = "N",
           .fallback = "0",
           .meaning = "join all gradients and split them into N packs; 0: no packs"},
    Option{.name = "allreduce_bucket_mb",
           .value = "N",
           .fallback = "0",
           .meaning = "add gradients in buckets of at most N MiB (bench: 25); 0: no buckets"},
    Option{.name = "iters_per_step",
           .value = "N",
           .fallback = "5",
           .meaning = "consecutive all-reduces in a step"},
    Option{.name = "num_batches", .value = "N", .fallback = "20", .meaning = "timed steps"},
    Option{.name = "num_warmup_batches",
           .value = "N",
           .fallback = "2",
           .meaning = "untimed warm-up steps"},
    Option{.name = "result_file",
           .value = "PATH",
           .meaning = "also write every time as JSON; -: write JSON to stdout instead of the "
                      "table"},
};

void check_combination(const AllReduceOptions& options, int processes) {
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
    check_all_reduce_spec(spec, options.towers,
                          {.nccl = options.on_gpus, .timed = false, .processes = processes > 1});
    if (spec == "auto") {
      throw UsageError(
          "--all_reduce_spec=auto: remove the flag to time every algorithm that auto chooses from");
    }
    const std::vector<AllReduceRange> ranges = parse_all_reduce_spec(spec);
    if (adds_by_mpi(ranges) && !mpi_adds(options.dtype)) {
      throw UsageError(fmt::format("--all_reduce_spec=mpi: MPI does not add {}; use f32 or f64",
                                   name_of(options.dtype)));
    }
    if (adds_by_nccl(ranges) && !options.on_gpus) {
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

AllReduceOptions read_options(std::span<const std::string> words, int processes) {
  const Arguments arguments("bench_all_reduce", kOptions, words);
  if (arguments.help()) {
    return {.help = true};
  }
  arguments.refuse_operands();
  if (arguments.has("model") && arguments.has("sizes")) {
    throw UsageError("--model and --sizes cannot be combined: give one of them");
  }
  const auto count = [&](std::string_view option, int least) {
    return static_cast<int>(arguments.integer(option, least, std::numeric_limits<int>::max()));
  };
  AllReduceOptions options{
      .sizes = read_sizes(arguments.text("sizes")),
      .towers = processes > 1 && !arguments.has("num_gpus") ? 1 : count("num_gpus", 1),
      .on_gpus = arguments.text("device") == "gpu",
      .dtype = read_dtype(arguments.text("dtype")),
      .small_max_bytes = count("agg_small_grads_max_bytes", 0),
      .small_max_group = count("agg_small_grads_max_group", 0),
      .repacking = count("gradient_repacking", 0),
      .bucket_mb = count("allreduce_bucket_mb", 0),
      .iters_per_step = count("iters_per_step", 1),
      .num_batches = count("num_batches", 1),
      .num_warmup_batches = count("num_warmup_batches", 0),
      .result_file = arguments.text("result_file"),
  };
  if (const auto model = arguments.given("model")) {
    options.model = read_model(*model);
  }
  if (const auto specs = arguments.given("all_reduce_spec")) {
    options.specs = read_specs(*specs);
  }
  if (arguments.has("num_intra_threads")) {
    options.threads = count("num_intra_threads", 1);
  }
  check_combination(options, processes);
  return options;
}

void print_usage(std::ostream& out) {
  out << "bench_all_reduce: times the all-reduce of gradients between towers on one host or, if "
         "started by mpirun or srun, on several hosts.\n\n"
         "Usage: bench_all_reduce [--model=resnet50 | --sizes=1K:256M:4] [OPTION]...\n\n";
  print_options(out, kOptions);
}

}  // namespace bench

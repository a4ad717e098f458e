// Which cuDNN engines run the convolutions of every model of the zoo, on described cards. Prints a
// table by chip, type, order of axes and pass.
//
//   engine_matrix [--every=N [--first=M]] [CHIP...]    e.g. engine_matrix sm_80 sm_90; all
//   described cards without one
//
// A chip takes about a minute; --every=N asks about one in N convolutions. "no cores": layers
// without groups in 16 bits that no engine runs on tensor cores. "varying": layers whose engines
// are all non-deterministic. "first MiB": the largest workspace among the layers' first engines.
//
// Exits with 1 if a convolution has no engine. Also exits with 1 if more convolutions lack tensor
// cores than are known to lack them in cuDNN 9.19.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/cudnn/cudnn_convolutions.h"
#include "models/base/errors.h"
#include "models/ops/conv2d.h"
#include "models/zoo/zoo.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;

constexpr std::int64_t kBatch = 64;
constexpr int kFirstWithBfloat16 = 80;

std::array<std::int64_t, 4> extents(const Shape& shape) {
  return {shape[0], shape[1], shape[2], shape[3]};
}

/// A text key, to find the distinct problems.
std::string key_of(const ConvolutionProblem& problem) {
  const Window& window = problem.window;
  std::string key =
      fmt::format("kernel {}x{} stride {}x{} dilation {}x{} pad {},{} to {},{} groups {}",
                  window.kernel[0], window.kernel[1], window.stride[0], window.stride[1],
                  window.dilation[0], window.dilation[1], window.pad_before[0],
                  window.pad_before[1], window.pad_after[0], window.pad_after[1], problem.groups);
  for (const auto& tensor : {problem.x, problem.filter}) {
    for (const std::int64_t extent : tensor) {
      key += fmt::format(" {}", extent);
    }
  }
  return key;
}

struct Layer {
  std::string model;
  ConvolutionProblem problem;
};

/// The distinct convolutions of all models at their own image sizes.
std::vector<Layer> layers_of_the_zoo() {
  std::vector<Layer> layers;
  std::set<std::string> seen;
  for (const Model& model : all_models()) {
    const Graph graph = build_network(model, {.batch = kBatch});
    for (const Node& node : graph.nodes()) {
      if (node.op != &kConv2d) {
        continue;
      }
      const auto& attributes = node.attributes.as<Conv2dAttributes>();
      Layer layer{.model = fmt::format("{} {}", model.name, node.name),
                  .problem = {.x = extents(graph.shape(node.inputs[0])),
                              .filter = extents(graph.shape(node.inputs[1])),
                              .y = extents(graph.shape(node.outputs[0])),
                              .window = attributes.window,
                              .groups = attributes.groups}};
      if (seen.insert(key_of(layer.problem)).second) {
        layers.push_back(std::move(layer));
      }
    }
  }
  return layers;
}

/// The kinds of elements that a run can request.
struct Precision {
  const char* name;
  DType dtype;
  bool tf32;
};
constexpr std::array kPrecisions{
    Precision{"f32", DType::f32, false}, Precision{"tf32", DType::f32, true},
    Precision{"f16", DType::f16, false}, Precision{"bf16", DType::bf16, false}};
constexpr std::array kPasses{"forward", "data", "filter"};
constexpr double kMib = 1024.0 * 1024.0;

/// The number of forward convolutions for which cuDNN 9.19 has no engine with tensor cores: first
/// layers, and one of EfficientNet.
int known_without_tensor_cores(int capability, DType dtype, Order order) {
  constexpr int kAda = 89;
  constexpr int kThor = 110;
  constexpr std::array kBlackwell{100, 103, kThor};
  constexpr int kFirstLayers = 12;
  if (capability == kAda) {
    return dtype == DType::f16 && order == Order::nchw ? kFirstLayers : 0;
  }
  const bool one = dtype == DType::bf16 || (dtype == DType::f16 && capability == kThor);
  return one && std::ranges::find(kBlackwell, capability) != kBlackwell.end() ? 1 : 0;
}

/// A summary of the engines in one row of the table.
struct Row {
  int none = 0;
  int few_tensor_cores = 0;
  int varying = 0;
  std::size_t most_workspace = 0;
  double milliseconds = 0;
  /// The first layer without an engine, or without tensor cores.
  std::string example;
};

void look_at(const Layer& layer, const std::vector<ConvolutionChoice>& choices, DType dtype,
             Row& row) {
  const auto note = [&](const char* what) {
    if (row.example.empty()) {
      row.example = fmt::format("{}: {} {}", what, layer.model, key_of(layer.problem));
    }
  };
  if (choices.empty()) {
    ++row.none;
    note("none");
    return;
  }
  // Grouped convolutions have separate engines, few of them with tensor cores.
  if (is_half(dtype) && layer.problem.groups == 1 &&
      std::ranges::none_of(choices, &ConvolutionChoice::tensor_cores)) {
    ++row.few_tensor_cores;
    note("no tensor cores");
  }
  if (std::ranges::none_of(choices, &ConvolutionChoice::deterministic)) {
    ++row.varying;
    note("varies");
  }
  row.most_workspace = std::max(row.most_workspace, choices.front().workspace_bytes);
}

/// Prints the rows of a chip; returns true if all are as expected.
bool walk(const DeviceProperties& device, const std::vector<Layer>& layers) {
  bool good = true;
  for (const Precision& precision : kPrecisions) {
    if (precision.dtype == DType::bf16 && device.capability < kFirstWithBfloat16) {
      continue;
    }
    const auto convolutions = make_cudnn_convolutions(device, precision.tf32);
    for (const Order order : {Order::nhwc, Order::nchw}) {
      for (const Pass pass : {Pass::forward, Pass::data, Pass::filter}) {
        Row row;
        const auto begin = std::chrono::steady_clock::now();
        for (const Layer& layer : layers) {
          ConvolutionProblem problem = layer.problem;
          problem.pass = pass;
          problem.dtype = precision.dtype;
          problem.order = order;
          look_at(layer, convolutions->choices(problem), precision.dtype, row);
        }
        row.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count();
        std::printf("sm_%-4d %-4s %s %-7s %5zu %5d %8d %7d %10.1f %8.2f  %s\n", device.capability,
                    precision.name, order == Order::nhwc ? "nhwc" : "nchw",
                    kPasses.at(static_cast<std::size_t>(pass)), layers.size(), row.none,
                    row.few_tensor_cores, row.varying,
                    static_cast<double>(row.most_workspace) / kMib,
                    row.milliseconds / static_cast<double>(layers.size()), row.example.c_str());
        std::fflush(stdout);
        const int known = pass == Pass::forward ? known_without_tensor_cores(device.capability,
                                                                             precision.dtype, order)
                                                : 0;
        good = good && row.none == 0 && row.few_tensor_cores <= known;
      }
    }
  }
  return good;
}

/// One in `every` of the layers, from number `first` on.
std::vector<Layer> sample(const std::vector<Layer>& layers, std::size_t every, std::size_t first) {
  std::vector<Layer> chosen;
  for (std::size_t i = first; i < layers.size(); i += every) {
    chosen.push_back(layers[i]);
  }
  return chosen;
}

int run(std::vector<std::string> chips) {
  const auto take_number = [&](std::string_view flag, std::size_t otherwise) {
    if (chips.empty() || !chips.front().starts_with(flag)) {
      return otherwise;
    }
    const std::size_t number = std::stoul(chips.front().substr(flag.size()));
    chips.erase(chips.begin());
    return number;
  };
  const std::size_t every = take_number("--every=", 1);
  check(every > 0, "--every=N takes a number from 1");
  const std::vector<Layer> layers = sample(layers_of_the_zoo(), every, take_number("--first=", 0));
  std::printf("%-7s %-4s %-4s %-7s %5s %5s %8s %7s %10s %8s\n", "chip", "type", "axes", "pass",
              "convs", "none", "no cores", "varying", "first MiB", "ms each");
  bool good = true;
  for (const DeviceProperties& device : described_cards()) {
    if (chips.empty() ||
        std::ranges::find(chips, fmt::format("sm_{}", device.capability)) != chips.end()) {
      good = walk(device, layers) && good;
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace bench::cuda

int main(int argc, char** argv) {
  try {
    return bench::cuda::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_matrix: %s\n", error.what());
    return 1;
  }
}

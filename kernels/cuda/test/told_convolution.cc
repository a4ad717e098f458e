#include "kernels/cuda/test/told_convolution.h"

#include <algorithm>
#include <optional>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/cudnn/engine_search.h"
#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench::cuda {

const Extents& extents_at(const ConvolutionProblem& problem, std::size_t position) {
  const std::array<std::array<const Extents*, 3>, 3> all{
      {{&problem.x, &problem.filter, &problem.y},
       {&problem.y, &problem.filter, &problem.x},
       {&problem.y, &problem.x, &problem.filter}}};
  return *all.at(static_cast<std::size_t>(problem.pass)).at(position);
}

std::vector<double> draw_whole_numbers(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed);
  return draw({.kind = InputFill::Kind::integers, .scale = 4}, count, random);
}

Tensors draw_tensors(const ConvolutionProblem& problem) {
  Tensors tensors;
  for (const std::size_t i : {0U, 1U}) {
    tensors.at(i) = draw_whole_numbers(elements(extents_at(problem, i)), 7 + i);
  }
  tensors[2].resize(static_cast<std::size_t>(elements(extents_at(problem, 2))));
  return tensors;
}

std::size_t place(const Extents& extents, Order order, const Extents& index) {
  const auto [n, c, h, w] = index;
  return static_cast<std::size_t>(order == Order::nhwc
                                      ? ((n * extents[2] + h) * extents[3] + w) * extents[1] + c
                                      : ((n * extents[1] + c) * extents[2] + h) * extents[3] + w);
}

std::vector<double> expected(const ConvolutionProblem& problem, Tensors tensors) {
  const Window& window = problem.window;
  // x, filter and y among a launch's tensors.
  const std::array<std::size_t, 3> roles = std::array<std::array<std::size_t, 3>, 3>{
      {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}}.at(static_cast<std::size_t>(problem.pass));
  const auto at = [&](std::size_t role, const Extents& index) -> double& {
    const std::size_t tensor = roles.at(role);
    return tensors.at(tensor).at(place(extents_at(problem, tensor), problem.order, index));
  };
  const std::int64_t filters = problem.filter[0] / problem.groups;
  for (std::int64_t n = 0; n < problem.x[0]; ++n) {
    for (std::int64_t o = 0; o < problem.y[1]; ++o) {
      for (std::int64_t p = 0; p < problem.y[2]; ++p) {
        for (std::int64_t q = 0; q < problem.y[3]; ++q) {
          for (std::int64_t c = 0; c < problem.filter[1]; ++c) {
            for (std::int64_t r = 0; r < problem.filter[2]; ++r) {
              for (std::int64_t s = 0; s < problem.filter[3]; ++s) {
                const std::int64_t h =
                    p * window.stride[0] + r * window.dilation[0] - window.pad_before[0];
                const std::int64_t w =
                    q * window.stride[1] + s * window.dilation[1] - window.pad_before[1];
                if (h < 0 || h >= problem.x[2] || w < 0 || w >= problem.x[3]) {
                  continue;
                }
                double& x = at(0, {n, o / filters * problem.filter[1] + c, h, w});
                double& filter = at(1, {o, c, r, s});
                double& y = at(2, {n, o, p, q});
                switch (problem.pass) {
                  case Pass::forward:
                    y += x * filter;
                    break;
                  case Pass::data:
                    x += y * filter;
                    break;
                  case Pass::filter:
                    filter += y * x;
                    break;
                }
              }
            }
          }
        }
      }
    }
  }
  return tensors[2];
}

ToldTensor told_tensor(const nlohmann::json& graph, const std::string& name) {
  for (const nlohmann::json& tensor : graph.at("tensors")) {
    if (tensor.at("name") == name) {
      return {.id = std::stoll(name),
              .type = tensor.at("dataType"),
              .extents = tensor.at("dim"),
              .strides = tensor.at("stride")};
    }
  }
  throw InternalError(fmt::format("no tensor {}", name));
}

Told told_convolution(const nlohmann::json& graph, const nlohmann::json& node) {
  const std::string operation = node.at("operation");
  const bool data = operation.find("BACKWARD_DATA") != std::string::npos;
  const bool filter = operation.find("BACKWARD_FILTER") != std::string::npos;
  const auto tensor = [&](const char* name) { return told_tensor(graph, node.at(name)); };
  return {.pass = data     ? Pass::data
                  : filter ? Pass::filter
                           : Pass::forward,
          .x = tensor(data ? "dX" : "X"),
          .filter = tensor(filter ? "dW" : "W"),
          .y = tensor(data || filter ? "dY" : "Y"),
          .flipped = node.at("mode") != "CUDNN_CROSS_CORRELATION",
          .sums = node.at("mathPrec"),
          .before = node.at(node.contains("pad") ? "pad" : "pad_lower"),
          .after = node.at(node.contains("pad") ? "pad" : "pad_upper"),
          .dilation = node.at("dilation"),
          .stride = node.at("stride"),
          .alpha = node.at("alpha"),
          .beta = node.at("beta")};
}

nlohmann::json told_graph(const ConvolutionProblem& problem) {
  const ConvolutionGraph graph(problem, nullptr);
  const Descriptor device = device_descriptor(properties_of("sm_90").value());
  const auto engines = find_engines(graph.graph, {.device = &device}, wish_for(problem, true));
  return nlohmann::json::parse(make_plan(graph.graph, engines.at(0), {.device = &device})
                                   .text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION))
      .at("operationGraph");
}

bool convolve(const Told& told, Memories& memories) {
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t reach = told.dilation.at(axis) * (told.filter.extents.at(2 + axis) - 1) + 1;
    const std::int64_t room =
        told.x.extents.at(2 + axis) + told.before.at(axis) + told.after.at(axis) - reach;
    if (room / told.stride.at(axis) + 1 != told.y.extents.at(2 + axis)) {
      return false;
    }
  }
  bool inside = true;
  double outside = 0;
  const auto at = [&](const ToldTensor& tensor, const Extents& index) -> double& {
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      offset += static_cast<std::size_t>(index.at(axis) * tensor.strides.at(axis));
    }
    std::vector<double>& memory = memories.at(tensor.id);
    inside = inside && offset < memory.size();
    return inside ? memory.at(offset) : outside;
  };
  const std::int64_t groups = told.x.extents.at(1) / told.filter.extents.at(1);
  const std::int64_t filters = told.filter.extents.at(0) / groups;
  const std::int64_t taps = told.filter.extents.at(2) * told.filter.extents.at(3);
  const std::int64_t pixels = told.y.extents.at(2) * told.y.extents.at(3);
  for (std::int64_t n = 0; n < told.x.extents.at(0); ++n) {
    for (std::int64_t o = 0; o < told.filter.extents.at(0); ++o) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const std::int64_t p = pixel / told.y.extents.at(3);
        const std::int64_t q = pixel % told.y.extents.at(3);
        for (std::int64_t c = 0; c < told.filter.extents.at(1); ++c) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const std::int64_t r = tap / told.filter.extents.at(3);
            const std::int64_t s = tap % told.filter.extents.at(3);
            const std::int64_t h =
                p * told.stride.at(0) + r * told.dilation.at(0) - told.before.at(0);
            const std::int64_t w =
                q * told.stride.at(1) + s * told.dilation.at(1) - told.before.at(1);
            if (h < 0 || h >= told.x.extents.at(2) || w < 0 || w >= told.x.extents.at(3)) {
              continue;
            }
            double& x = at(told.x, {n, o / filters * told.filter.extents.at(1) + c, h, w});
            double& filter =
                at(told.filter, {o, c, told.flipped ? told.filter.extents.at(2) - 1 - r : r,
                                 told.flipped ? told.filter.extents.at(3) - 1 - s : s});
            double& y = at(told.y, {n, o, p, q});
            switch (told.pass) {
              case Pass::forward:
                y += x * filter;
                break;
              case Pass::data:
                x += y * filter;
                break;
              case Pass::filter:
                filter += y * x;
                break;
            }
          }
        }
      }
    }
  }
  return inside;
}

namespace {

/// The offset of a place in a tensor; an extent of 1 is broadcast.
std::size_t offset_of(const ToldTensor& tensor, const Extents& index) {
  std::size_t offset = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (tensor.extents.at(axis) > 1) {
      offset += static_cast<std::size_t>(index.at(axis) * tensor.strides.at(axis));
    }
  }
  return offset;
}

/// Calls act(index) for each place in a tensor until it returns false; returns true if it never
/// does.
template <class Act>
bool for_each_place(const ToldTensor& tensor, const Act& act) {
  for (std::int64_t n = 0; n < tensor.extents[0]; ++n) {
    for (std::int64_t c = 0; c < tensor.extents[1]; ++c) {
      for (std::int64_t h = 0; h < tensor.extents[2]; ++h) {
        for (std::int64_t w = 0; w < tensor.extents[3]; ++w) {
          if (!act(Extents{n, c, h, w})) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

/// Null outside the tensor.
double* element_at(Memories& memories, const ToldTensor& tensor, const Extents& index) {
  std::vector<double>& memory = memories.at(tensor.id);
  const std::size_t offset = offset_of(tensor, index);
  return offset < memory.size() ? &memory[offset] : nullptr;
}

/// Adds, multiplies or activates as described to cuDNN.
bool run_pointwise(const nlohmann::json& graph, const nlohmann::json& node, Memories& memories) {
  const ToldTensor x = told_tensor(graph, node.at("X"));
  const ToldTensor y = told_tensor(graph, node.at("Y"));
  const std::string mode = node.at("pointwiseMode");
  const bool add = mode == "CUDNN_POINTWISE_ADD";
  const bool multiply = mode == "CUDNN_POINTWISE_MUL";
  check(add || multiply || mode == "CUDNN_POINTWISE_RELU_FWD", mode);
  const std::optional<ToldTensor> other =
      add || multiply ? std::optional(told_tensor(graph, node.at("B"))) : std::nullopt;
  return for_each_place(y, [&](const Extents& index) {
    const double* const value = element_at(memories, x, index);
    const double* const second = other ? element_at(memories, *other, index) : value;
    double* const result = element_at(memories, y, index);
    if (value == nullptr || second == nullptr || result == nullptr) {
      return false;
    }
    const double a = node.at("alpha1").get<double>() * *value;
    const double b = node.at("alpha2").get<double>() * *second;
    *result = add        ? a + b
              : multiply ? a * b
                         : std::clamp(*value, node.at("lowerClip").get<double>(),
                                      node.at("upperClip").get<double>());
    return true;
  });
}

/// Sums as described to cuDNN.
bool add_up(const nlohmann::json& graph, const nlohmann::json& node, Memories& memories) {
  const ToldTensor x = told_tensor(graph, node.at("X"));
  const ToldTensor sums = told_tensor(graph, node.at("Sum"));
  const ToldTensor squares = told_tensor(graph, node.at("SqSum"));
  return for_each_place(x, [&](const Extents& index) {
    const double* const value = element_at(memories, x, index);
    double* const sum = element_at(memories, sums, index);
    double* const square = element_at(memories, squares, index);
    if (value == nullptr || sum == nullptr || square == nullptr) {
      return false;
    }
    *sum += *value;
    *square += *value * *value;
    return true;
  });
}

}  // namespace

bool run_graph(const nlohmann::json& graph, Memories& memories) {
  for (const nlohmann::json& tensor : graph.at("tensors")) {
    const std::vector<std::int64_t> extents = tensor.at("dim");
    if (tensor.at("isVirtual").get<bool>()) {
      const std::string name = tensor.at("name");
      memories[std::stoll(name)].resize(
          static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
    }
  }
  return std::ranges::all_of(graph.at("nodes"), [&](const nlohmann::json& node) {
    return node.contains("pointwiseMode") ? run_pointwise(graph, node, memories)
           : node.contains("SqSum")       ? add_up(graph, node, memories)
                                          : convolve(told_convolution(graph, node), memories);
  });
}

nlohmann::json& told_tensor_in(nlohmann::json& graph, const std::string& name) {
  for (nlohmann::json& tensor : graph.at("tensors")) {
    if (tensor.at("name") == name) {
      return tensor;
    }
  }
  throw InternalError(fmt::format("no tensor {}", name));
}

}  // namespace bench::cuda

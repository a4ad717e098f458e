// What cuDNN is told of a convolution, read back from its own plans and computed with plain loops
// over strides.

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/cudnn/engine_search.h"
#include "kernels/cuda/test/convolution_cases.h"
#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench::cuda {
namespace {

/// Of a launch: first, second and result.
using Tensors = std::array<std::vector<double>, 3>;

const Extents& extents_at(const ConvolutionProblem& problem, std::size_t position) {
  const std::array<std::array<const Extents*, 3>, 3> all{
      {{&problem.x, &problem.filter, &problem.y},
       {&problem.y, &problem.filter, &problem.x},
       {&problem.y, &problem.x, &problem.filter}}};
  return *all.at(static_cast<std::size_t>(problem.pass)).at(position);
}

/// Small whole numbers: sums are exact in any order.
Tensors draw_tensors(const ConvolutionProblem& problem) {
  Tensors tensors;
  const InputFill fill{.kind = InputFill::Kind::integers, .scale = 4};
  RandomStream random(7);
  for (const std::size_t i : {0U, 1U}) {
    tensors.at(i) = draw(fill, elements(extents_at(problem, i)), random);
  }
  tensors[2].resize(static_cast<std::size_t>(elements(extents_at(problem, 2))));
  return tensors;
}

/// Where an element lies, by the order alone.
std::size_t place(const Extents& extents, Order order, const Extents& index) {
  const auto [n, c, h, w] = index;
  return static_cast<std::size_t>(order == Order::nhwc
                                      ? ((n * extents[2] + h) * extents[3] + w) * extents[1] + c
                                      : ((n * extents[1] + c) * extents[2] + h) * extents[3] + w);
}

/// What the problem asks for.
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

/// A tensor as cuDNN has it.
struct ToldTensor {
  std::int64_t id = 0;
  std::string type;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

/// A convolution as cuDNN has it.
struct Told {
  Pass pass = Pass::forward;
  ToldTensor x;
  ToldTensor filter;
  ToldTensor y;
  bool flipped = false;
  std::string sums;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  std::vector<std::int64_t> dilation;
  std::vector<std::int64_t> stride;
  double alpha = 0;
  double beta = 1;
};

ToldTensor told_tensor(const nlohmann::json& graph, const std::string& name) {
  for (const nlohmann::json& tensor : graph.at("tensors")) {
    if (tensor.at("name") == name) {
      return {.id = std::stoll(name),
              .type = tensor.at("dataType"),
              .extents = tensor.at("dim"),
              .strides = tensor.at("stride")};
    }
  }
  throw InternalError(cat("no tensor ", name));
}

/// What a plan says of itself. Operations say less: theirs are brought into another form.
Told read_back(const std::string& plan) {
  const nlohmann::json graph = nlohmann::json::parse(plan).at("operationGraph");
  const nlohmann::json& node = graph.at("nodes").at(0);
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

Told told_of(const ConvolutionProblem& problem) {
  const ConvolutionGraph graph(problem, nullptr);
  const Descriptor device = device_descriptor(properties_of("sm_90").value());
  const auto engines = find_engines(graph.graph, problem.dtype, device, true);
  return read_back(make_plan(graph.graph, engines.at(0), {.device = &device})
                       .text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION));
}

/// What that convolution gives for a launch's tensors, each found by its id; none where it reads or
/// writes outside of them or y's extents are not those of the window.
std::optional<std::vector<double>> compute(const Told& told, Tensors tensors) {
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t reach = told.dilation.at(axis) * (told.filter.extents.at(2 + axis) - 1) + 1;
    const std::int64_t room =
        told.x.extents.at(2 + axis) + told.before.at(axis) + told.after.at(axis) - reach;
    if (room / told.stride.at(axis) + 1 != told.y.extents.at(2 + axis)) {
      return std::nullopt;
    }
  }
  bool inside = true;
  double outside = 0;
  const auto at = [&](const ToldTensor& tensor, const Extents& index) -> double& {
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      offset += static_cast<std::size_t>(index.at(axis) * tensor.strides.at(axis));
    }
    std::vector<double>& memory = tensors.at(static_cast<std::size_t>(tensor.id - 1));
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
  return inside ? std::optional(tensors[2]) : std::nullopt;
}

TEST(ConvolutionGraph, TellsCudnnTheConvolutionThatIsAskedFor) {
  int compared = 0;
  for (const Pass pass : kPasses) {
    for (const Order order : kOrders) {
      for (const auto& [name, problem] : cases_of(order, pass)) {
        const Told told = told_of(problem);
        EXPECT_EQ(told.pass, pass);
        EXPECT_FALSE(told.flipped);
        EXPECT_EQ(told.alpha, 1);
        EXPECT_EQ(told.beta, 0);
        const Tensors tensors = draw_tensors(problem);
        const auto result = compute(told, tensors);
        ASSERT_TRUE(result) << name;
        EXPECT_EQ(*result, expected(problem, tensors)) << name;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(ConvolutionGraph, GivesAllTensorsTheTypeOfTheProblemAndSumsInF32) {
  for (const auto& [dtype, type] : {std::pair{DType::f32, "CUDNN_DATA_FLOAT"},
                                    {DType::f16, "CUDNN_DATA_HALF"},
                                    {DType::bf16, "CUDNN_DATA_BFLOAT16"}}) {
    for (const Pass pass : kPasses) {
      ConvolutionProblem problem = cases_of(Order::nhwc, pass).front().problem;
      problem.dtype = dtype;
      const Told told = told_of(problem);
      for (const ToldTensor* tensor : {&told.x, &told.filter, &told.y}) {
        EXPECT_EQ(tensor->type, type);
      }
      EXPECT_EQ(told.sums, "CUDNN_DATA_FLOAT");
    }
  }
}

/// A way to tell cuDNN something else.
struct Fault {
  const char* name;
  std::function<void(Told&)> plant;
};

TEST(ConvolutionGraph, EveryPlantedFaultIsFoundByTheComparison) {
  const std::vector<Fault> faults{
      {"paddings before and behind", [](Told& told) { std::swap(told.before, told.after); }},
      {"no padding behind",
       [](Told& told) {
         told.after = {0, 0};
       }},
      {"paddings of H and W", [](Told& told) { std::swap(told.before[0], told.before[1]); }},
      {"strides of H and W", [](Told& told) { std::swap(told.stride[0], told.stride[1]); }},
      {"no dilation",
       [](Told& told) {
         told.dilation = {1, 1};
       }},
      {"a flipped filter", [](Told& told) { told.flipped = true; }},
      {"x by columns", [](Told& told) { std::swap(told.x.strides[2], told.x.strides[3]); }},
      {"the filter by columns",
       [](Told& told) { std::swap(told.filter.strides[2], told.filter.strides[3]); }},
      {"the filter's channels outermost",
       [](Told& told) { std::swap(told.filter.strides[0], told.filter.strides[1]); }},
      {"y by columns", [](Told& told) { std::swap(told.y.strides[2], told.y.strides[3]); }},
      {"x and y for one another", [](Told& told) { std::swap(told.x.id, told.y.id); }},
      {"x and the filter for one another",
       [](Told& told) { std::swap(told.x.id, told.filter.id); }},
  };
  std::vector<int> found(kPasses.size() * faults.size());
  for (std::size_t pass = 0; pass < kPasses.size(); ++pass) {
    for (const Order order : kOrders) {
      for (const auto& [name, problem] : cases_of(order, kPasses.at(pass))) {
        const Tensors tensors = draw_tensors(problem);
        const std::vector<double> right = expected(problem, tensors);
        const Told told = told_of(problem);
        for (std::size_t fault = 0; fault < faults.size(); ++fault) {
          int& cases = found.at(pass * faults.size() + fault);
          if (cases == 0) {
            Told wrong = told;
            faults[fault].plant(wrong);
            cases += compute(wrong, tensors) == right ? 0 : 1;
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_GT(found[i], 0) << faults[i % faults.size()].name << ", pass " << i / faults.size();
  }
}

TEST(ConvolutionGraph, WrongExtentsAreRefused) {
  for (const Pass pass : kPasses) {
    for (const Order order : kOrders) {
      for (const std::size_t axis : {1U, 2U, 3U}) {
        ConvolutionProblem problem = cases_of(order, pass).front().problem;
        problem.y.at(axis) += 1;
        EXPECT_THROW(ConvolutionGraph(problem, nullptr), DeviceError) << axis;
      }
    }
  }
}

}  // namespace
}  // namespace bench::cuda

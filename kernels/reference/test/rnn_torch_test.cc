#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/base/errors.h"
#include "models/base/tensor_file.h"
#include "models/ops/rnn.h"

// The reference next to PyTorch in f64. torch/make_rnn.py made the values.
namespace bench {
namespace {

using Values = std::vector<double>;

class TorchFile {
 public:
  [[nodiscard]] const StoredTensor* find(const std::string& name) const { return file_.find(name); }
  [[nodiscard]] const StoredTensor& tensor(const std::string& name) const {
    const StoredTensor* const found = find(name);
    check(found != nullptr, name + " is missing");
    return *found;
  }
  template <class T = double>
  [[nodiscard]] std::vector<T> values(const std::string& name) const {
    std::vector<T> values(static_cast<std::size_t>(tensor(name).elements()));
    file_.read(tensor(name), 0, std::span(values));
    return values;
  }

 private:
  TensorFile file_{std::filesystem::path(BENCH_TORCH_FOLDER) / "rnn.safetensors"};
};

void expect_equal(const Values& actual, const Values& expected, const std::string& name) {
  constexpr double kTolerance = 1e-12;
  ASSERT_EQ(actual.size(), expected.size()) << name;
  const double squares =
      std::inner_product(expected.begin(), expected.end(), expected.begin(), 0.0);
  const double rms = std::sqrt(squares / static_cast<double>(expected.size()));
  ASSERT_GT(rms, 0) << name;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], kTolerance * (std::abs(expected[i]) + rms))
        << name << " element " << i;
  }
}

class Torch : public testing::TestWithParam<std::tuple<RnnCell, std::string>> {};

TEST_P(Torch, HasTheSameValuesAndGradients) {
  const auto& [cell, form] = GetParam();
  const std::string name = fmt::format("{}{}/", name_of(cell), form);
  const TorchFile file;
  const bool lengths = file.find(name + "lengths") != nullptr;
  KernelCase one{
      .name = "torch",
      .op = &kRnn,
      .attributes = RnnAttributes{.cell = cell, .hidden_bias = true, .lengths = lengths}};
  CaseData data{.inputs = {}, .dout = file.values(name + "dy")};
  for (const std::string input : {"x", "w_x", "w_h", "b_x", "b_h"}) {
    data.inputs.push_back(file.values(name + input));
    const std::int64_t elements = std::ssize(data.inputs.back());
    const bool bias = input.starts_with("b");
    one.inputs.push_back(
        {.shape = bias ? Shape{elements} : Shape(std::span(file.tensor(name + input).shape))});
  }
  if (lengths) {
    const std::vector<std::int64_t> values = file.values<std::int64_t>(name + "lengths");
    one.inputs.push_back({.dtype = DType::s32, .shape = {std::ssize(values)}});
    data.inputs.emplace_back(values.begin(), values.end());
  }
  const auto backend = make_reference_backend();
  const CaseOutputs outputs = CaseRunner(one, {.dtype = DType::f64}, *backend).run(data);
  expect_equal(outputs.at("out0"), file.values(name + "y"), "y");
  int input = 0;
  for (const char* const gradient : {"dx", "dw_x", "dw_h", "db_x", "db_h"}) {
    expect_equal(outputs.at(fmt::format("grad{}", input)), file.values(name + gradient), gradient);
    ++input;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Reference, Torch,
    testing::Combine(testing::Values(RnnCell::relu, RnnCell::tanh, RnnCell::lstm,
                                     RnnCell::gru_reset_before, RnnCell::gru_reset_after),
                     testing::Values("", "/bidirectional", "/lengths", "/bidirectional/lengths")));

}  // namespace
}  // namespace bench

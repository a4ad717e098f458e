#include "bench/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags_table.h"
#include "bench/test/usage_error.h"
#include "kernels/reference/reference_backend.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The reference without max pooling.
class LesserBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "lesser"; }
  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    if (node.op == &kMaxPoolBackward) {
      return {.yes = false, .why_not = "lesser has no pooling"};
    }
    return all_->supports(graph, node);
  }
  std::vector<Candidate> candidates(const Graph&, const Node&, DataFormat) override { return {}; }
  [[nodiscard]] Layout canonical_layout(const TensorType& type) const override {
    return all_->canonical_layout(type);
  }
  [[nodiscard]] std::vector<Layout> input_layouts(const TensorType& type,
                                                  DataFormat format) const override {
    return all_->input_layouts(type, format);
  }
  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& layout) override {
    return all_->bytes(type, layout);
  }
  std::unique_ptr<Kernel> make_reorder(const TensorType&, const Layout&, const Layout&) override {
    return nullptr;
  }
  [[nodiscard]] double reorder_seconds(const TensorType&, const Layout&, const Layout&) override {
    return 0;
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings&,
                                            std::vector<OptimizerSegment>) override {
    return nullptr;
  }
  std::unique_ptr<Stream> make_stream() override { return nullptr; }
  std::unique_ptr<DeviceMemory> allocate(std::size_t) override { return nullptr; }

 private:
  std::unique_ptr<Backend> all_ = make_reference_backend();
};

std::vector<NamedBackend> two_devices() {
  std::vector<NamedBackend> devices;
  devices.push_back({.name = "whole", .backend = make_reference_backend()});
  devices.push_back({.name = "part", .backend = std::make_unique<LesserBackend>()});
  return devices;
}

std::vector<std::string> model_lines() {
  std::ostringstream out;
  list_models(out, two_devices());
  return split_text(out.str(), '\n');
}

/// The words of the line that begins with these two.
std::vector<std::string> fields(std::string_view model, std::string_view dataset) {
  for (const std::string& line : model_lines()) {
    std::vector<std::string> words;
    for (const std::string_view word : split_words(line)) {
      words.emplace_back(word);
    }
    if (words.size() > 1 && words[0] == model && words[1] == dataset) {
      return words;
    }
  }
  return {};
}

TEST(ListModels, HasALinePerModelAndDatasetBelowItsTitles) {
  const std::vector<std::string> lines = model_lines();
  ASSERT_EQ(lines.size(), all_models().size() + 2);  // titles, and nothing behind the last newline
  EXPECT_THAT(lines[0], StartsWith("model"));
  std::size_t line = 1;
  for (const Model& model : all_models()) {
    EXPECT_THAT(lines[line++], StartsWith(cat(model.name, " ")));
  }
}

TEST(ListModels, CountsWhatTheGraphHolds) {
  const std::vector<std::string> words = fields("resnet50", "imagenet");
  ASSERT_GE(words.size(), 7U);
  EXPECT_EQ(words[2], "224");
  EXPECT_EQ(words[3], "64");
  EXPECT_EQ(words[4], "25559081");
  EXPECT_EQ(words[5], "7.7160");  // 2 x 3.8580
}

TEST(ListModels, NamesTheDevicesThatCanAndWhatTheOthersLack) {
  EXPECT_THAT(fields("trivial", "imagenet"), testing::Contains("part"));
  for (const std::string& line : model_lines()) {
    if (line.starts_with("lenet ")) {
      EXPECT_THAT(line, testing::EndsWith("  whole; not part: lesser has no pooling"));
    }
  }
}

TEST(ListModels, AsksEveryDeviceThatFlagsCanName) {
  const std::vector<NamedBackend> devices = make_all_backends();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].name, "cpu");
  EXPECT_EQ(devices[1].name, "reference");
  for (const NamedBackend& device : devices) {
    EXPECT_EQ(why_not(*find_model("resnet50"), *device.backend), "") << device.name;
  }
}

std::vector<std::string> variable_lines(const std::vector<std::string_view>& arguments) {
  std::ostringstream out;
  list_variables(out, resolve_settings(parse(arguments)));
  return split_text(out.str(), '\n');
}

TEST(ListVariables, TellsShapesAndWhatIsTrainedAndDecayed) {
  const std::vector<std::string> lines = variable_lines({"--model=resnet50"});
  EXPECT_THAT(lines[0], StartsWith("variable"));
  const auto line_of = [&](std::string_view name) {
    for (const std::string& line : lines) {
      const std::vector<std::string_view> words = split_words(line);
      if (!words.empty() && words[0] == name) {
        return cat(words.at(1), " ", words.at(2), " ", words.at(3));
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(line_of("conv1.weight"), "64x3x7x7 yes yes");
  EXPECT_EQ(line_of("bn1.weight"), "64 yes no");
  EXPECT_EQ(line_of("bn1.running_var"), "64 no no");
  EXPECT_EQ(line_of("fc.weight"), "1001x2048 yes yes");
}

TEST(ListVariables, EndsWithTotals) {
  const std::vector<std::string> lines = variable_lines({"--model=resnet50"});
  ASSERT_EQ(lines.size(), 267U + 3);
  EXPECT_EQ(lines[268],
            "total: 267 with 25612201 scalars; trained: 161 with 25559081 scalars; in L2 sum: 55 "
            "with 25505961 scalars");
}

TEST(ListVariables, HeedsWhatElseIsAskedFor) {
  EXPECT_THAT(variable_lines({"--model=lenet", "--num_classes=7", "--image_size=32"}),
              testing::Contains(HasSubstr("512x4096")));
  EXPECT_THAT(variable_lines({"--model=lenet", "--num_classes=7"}),
              testing::Contains(HasSubstr("7x512")));
}

}  // namespace
}  // namespace bench

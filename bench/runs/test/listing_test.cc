#include "bench/runs/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/flags/table.h"
#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
#include "models/ir/op.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// One device that supports everything, and one without the gradient of max pooling.
std::vector<ListedDevice> two_devices() {
  const auto all = [](const Graph&, const Node&) { return Support{}; };
  const auto part = [](const Graph&, const Node& node) {
    return node.op == &kMaxPoolBackward ? Support{.yes = false, .why_not = "no pooling"}
                                        : Support{};
  };
  return {{.name = "whole", .supports = all}, {.name = "part", .supports = part}};
}

/// Made once, because it builds every model's graph.
const std::vector<std::string>& model_lines() {
  static const std::vector<std::string> lines = [] {
    std::ostringstream out;
    list_models(out, two_devices());
    return split_text(out.str(), '\n');
  }();
  return lines;
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
  const std::vector<std::string>& lines = model_lines();
  ASSERT_EQ(lines.size(), all_models().size() + 2);  // the titles, and an empty last part
  EXPECT_THAT(lines[0], StartsWith("model"));
  std::size_t line = 1;
  for (const Model& model : all_models()) {
    EXPECT_THAT(lines[line++], StartsWith(fmt::format("{} ", model.name)));
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

TEST(ListModels, NamesTheDevicesThatRunEachModel) {
  EXPECT_THAT(fields("trivial", "imagenet"), testing::Contains("part"));
  for (const std::string& line : model_lines()) {
    if (line.starts_with("lenet ")) {
      EXPECT_THAT(line, testing::EndsWith("  whole; not part: no pooling"));
    }
  }
}

TEST(ListModels, AsksEveryDeviceThatFlagsCanName) {
  std::ostringstream out;
  list_models(out);
  for (const std::string& line : split_text(out.str(), '\n')) {
    if (line.starts_with("resnet50 ")) {
      EXPECT_THAT(line, testing::EndsWith("  cpu reference"));
    }
  }
}

TEST(WhyNot, ChecksThePartsOfUnsupportedFusedNodes) {
  // Without the fused forms the graph still runs, as parts.
  const auto unfused = [](const Graph&, const Node& node) {
    return node.op->fused != nullptr && node.op->fused(node)
               ? Support{.yes = false, .why_not = "fused"}
               : Support{};
  };
  EXPECT_EQ(why_not(*find_model("resnet50"), unfused), "");
}

std::vector<std::string> variable_lines(const std::vector<std::string_view>& arguments) {
  std::ostringstream out;
  list_variables(out, resolve_settings(parse(arguments)).workload);
  return split_text(out.str(), '\n');
}

TEST(ListVariables, ListsShapesTrainingAndDecay) {
  const std::vector<std::string> lines = variable_lines({"--model=resnet50"});
  EXPECT_THAT(lines[0], StartsWith("variable"));
  const auto line_of = [&](std::string_view name) {
    for (const std::string& line : lines) {
      const std::vector<std::string_view> words = split_words(line);
      if (!words.empty() && words[0] == name) {
        return fmt::format("{} {} {}", words.at(1), words.at(2), words.at(3));
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

TEST(ListVariables, UsesTheOtherFlags) {
  EXPECT_THAT(variable_lines({"--model=lenet", "--num_classes=7", "--image_size=32"}),
              testing::Contains(HasSubstr("512x4096")));
  EXPECT_THAT(variable_lines({"--model=lenet", "--num_classes=7"}),
              testing::Contains(HasSubstr("7x512")));
}

}  // namespace
}  // namespace bench

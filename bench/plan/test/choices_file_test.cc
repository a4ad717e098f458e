#include "bench/plan/choices_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

using testing::EndsWith;

std::string written(const std::string& text) {
  std::string path = testing::TempDir() + "/choices.json";
  std::ofstream(path) << text;
  return path;
}

std::string refusal(const std::string& path) {
  try {
    read_choices(path);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(ChoicesFile, IsReadAsItWasWritten) {
  const Choices choices{
      .nodes = {{"conv1",
                 {.implementation = "brgconv:avx512_core",
                  .inputs = {Layout("nhwc"), Layout("w:Acdb16a")},
                  .outputs = {Layout("nChw16c")}}},
                {"relu", {.implementation = "vector", .inputs = {}, .outputs = {Layout::any()}}}},
      .held = {{"images", Layout("nchw")}}};
  EXPECT_EQ(read_choices(written(to_text(choices))), choices);
}

TEST(ChoicesFile, ThatIsNoneIsRefused) {
  EXPECT_THAT(refusal("/nowhere"), EndsWith("/nowhere: cannot be read"));
  for (const char* text : {"", "[1]", "{}", R"({"nodes": {"a": 1}, "held": {}})",
                           R"({"nodes": {}, "held": {"x": 5}})"}) {
    EXPECT_THAT(refusal(written(text)), EndsWith(": is not what --dump=choices prints")) << text;
  }
}

}  // namespace
}  // namespace bench

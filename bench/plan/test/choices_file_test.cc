#include "bench/plan/choices_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"
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

std::string read_refusal(const std::string& path) {
  return usage_error([&] { read_choices(path); });
}

ChoicesFile example() {
  return {.choices =
              {.nodes = {{"conv1",
                          {.implementation = "brgconv:avx512_core",
                           .inputs = {Layout("nhwc"), Layout("w:Acdb16a")},
                           .outputs = {Layout("nChw16c")}}},
                         {"relu",
                          {.implementation = "vector", .inputs = {}, .outputs = {Layout::any()}}}},
               .held = {{"images", Layout("nchw")}}},
          .made_for = {{"model", "lenet"}, {"batch_size", "8"}}};
}

TEST(ChoicesFile, IsReadAsItWasWritten) {
  EXPECT_EQ(read_choices(written(to_text(example()))), example());
}

TEST(ChoicesFile, IsRefusedIfInvalid) {
  EXPECT_THAT(read_refusal("/nowhere"), EndsWith("=/nowhere: cannot read the file"));
  EXPECT_THAT(read_refusal("/"), EndsWith("=/: this is not a regular file"));
  for (const char* text :
       {"", "[1]", "{}", R"({"made_for": {}, "nodes": {"a": 1}, "held": {}})",
        R"({"made_for": {}, "nodes": {}, "held": {"x": 5}})", R"({"nodes": {}, "held": {}})"}) {
    EXPECT_THAT(
        read_refusal(written(text)),
        EndsWith(": the file is neither the output of --dump=choices nor a record with choices"))
        << text;
  }
}

std::string refusal_of(std::string_view flag, const std::string& path) {
  const std::string pin = fmt::format("--choices_file={}", path);
  std::vector<std::string_view> arguments{"--model=lenet", pin};
  if (!flag.empty()) {
    arguments.push_back(flag);
  }
  return usage_error([&] { check_choices(resolve_settings(parse(arguments))); });
}

TEST(ChoicesFile, IsForTheRunItWasMadeFor) {
  ChoicesFile file = example();
  file.made_for = flags_of_choices(resolve_settings(parse({"--model=lenet"})));
  const std::string path = written(to_text(file));
  EXPECT_EQ(refusal_of("", path), "no UsageError");
  EXPECT_EQ(refusal_of("--weight_decay=0", path), "no UsageError");
  EXPECT_THAT(refusal_of("--batch_size=7", path),
              EndsWith(": the file was made for --batch_size=32, but this run has 7"));
  EXPECT_THAT(refusal_of("--forward_only", path),
              EndsWith(": the file was made for --forward_only=false, but this run has true"));
  EXPECT_THAT(refusal_of("--data_format=NHWC", path),
              EndsWith(": the file was made for --data_format=auto, but this run has NHWC"));
  EXPECT_THAT(refusal_of("--dtype=bf16", path),
              EndsWith(": the file was made for --dtype=f32, but this run has bf16"));
  file.made_for.erase("dtype");
  EXPECT_THAT(refusal_of("", written(to_text(file))),
              EndsWith(": the file does not name --dtype, but this run has f32"));
}

}  // namespace
}  // namespace bench

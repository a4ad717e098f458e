#include "bench/plan/tensor_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/input.h"
#include "bench/plan/test/filed_run.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SavedVariables, AreLoadedByTheNextRun) {
  FiledRun run;
  run.settings.outputs.files.save_variables = run.path("saved");
  InitialValues values = run.values();
  values.at("bn.running_var") = {3, 0.1F};
  run.files().save(run.tower(values)->executor(), 17);
  EXPECT_EQ(TensorFile(run.path("saved")).metadata().at("global_step"), "17");

  FiledRun next;
  next.settings.workload.init_from = run.path("saved");
  const RunTensorFiles files = next.files();
  InitialValues drawn = initial_values(next.network(), 5);
  files.load(drawn);
  EXPECT_EQ(drawn, values);
  EXPECT_THAT(files.notices(), ElementsAre(HasSubstr("8 of 8 variables are initialized from")));
}

TEST(SavedVariables, NameAndSkipAHeadOfAnotherSize) {
  FiledRun run;
  run.settings.outputs.files.save_variables = run.path("saved");
  run.files().save(run.tower(run.values())->executor(), 0);

  FiledRun next;
  next.settings.workload.num_classes = 5;
  next.settings.workload.init_from = run.path("saved");
  EXPECT_THAT(usage_error([&] { static_cast<void>(next.files()); }),
              HasSubstr("fc.weight has shape 4x2, not 5x2"));
  next.settings.workload.init_from_partial = true;
  EXPECT_THAT(
      next.files().notices(),
      ElementsAre(HasSubstr("6 of 8 variables are initialized from"),
                  "--init_from_partial: skipped because shape or type differs: fc.weight has "
                  "shape 4x2, not 5x2, fc.bias has shape 4, not 5"));
}

TEST(RunTensorFiles, RefuseUnusableFilesBeforeTheRun) {
  const auto refusal = [](const std::function<void(FiledRun&)>& change) {
    FiledRun run;
    change(run);
    return usage_error([&] { static_cast<void>(run.files()); });
  };
  EXPECT_THAT(refusal([](FiledRun& run) { run.settings.workload.init_from = run.path("absent"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(refusal([](FiledRun& run) { run.settings.workload.input.file = run.path("absent"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(
      refusal([](FiledRun& run) { run.settings.outputs.files.save_variables = run.path("no/s"); }),
      HasSubstr("cannot write the file of --save_variables"));
  EXPECT_THAT(
      refusal([](FiledRun& run) { run.settings.outputs.files.dump_tensors = run.path("no/d"); }),
      HasSubstr("cannot write the file of --dump_tensors"));
  EXPECT_EQ(refusal([](FiledRun&) {}), "no UsageError");
}

TEST(RunTensorFiles, CompareTheInputWithTheSettings) {
  FiledRun run;
  const std::vector<float> images(2 * 3 * 2 * 2, 1);
  const std::vector<std::int64_t> labels = {1, 3};
  const std::vector<TensorToWrite> tensors = {
      {"images", StoredType::f32, {2, 3, 2, 2}, std::as_bytes(std::span(images))},
      {"labels", StoredType::i64, {2}, std::as_bytes(std::span(labels))}};
  write_tensor_file(AtomicFile(run.path("in")), tensors, {});
  run.settings.workload.input.file = run.path("in");
  EXPECT_NO_THROW(run.files());
  const auto input = make_run_input(run.settings, Layout("nhwc"));
  EXPECT_EQ(input->next().labels[1], 3);
  run.settings.workload.num_classes = 3;
  EXPECT_THROW(run.files(), DataError);
  run.settings.workload.num_classes = 4;
  run.settings.workload.batch = 4;
  EXPECT_THROW(run.files(), DataError);
}

TEST(LayerStep, IsNegativeWithDeterministicLayersOnly) {
  FiledRun run;
  EXPECT_EQ(layer_step(run.settings.workload, 7), 7);
  run.settings.workload.deterministic_layers = true;
  EXPECT_EQ(layer_step(run.settings.workload, 7), -1);
}

}  // namespace
}  // namespace bench

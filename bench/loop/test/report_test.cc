#include "bench/loop/report.h"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <sstream>

namespace bench::report {
namespace {

using std::chrono::milliseconds;

Header plain_header() {
  return {.version = "0.1",
          .model = "resnet50",
          .dataset = "imagenet",
          .synthetic = true,
          .mode = "training",
          .global_batch = 64,
          .batch_per_device = 32,
          .num_batches = 100,
          .num_epochs = 0.004996,
          .devices = {"/cpu:0", "/cpu:1"},
          .data_format = "NHWC",
          .precision = "f32",
          .optimizer = "sgd",
          .variable_update = "parameter_server"};
}

template <class Print>
std::string printed(Print print) {
  std::ostringstream out;
  print(out);
  return out.str();
}

std::string header_text(const Header& header) {
  return printed([&](std::ostream& out) { print_header(out, header); });
}

TEST(Report, HeaderDiffersFromTheOriginalInTwoLinesOnly) {
  EXPECT_EQ(header_text(plain_header()),
            "bench:       0.1\n"
            "Model:       resnet50\n"
            "Dataset:     imagenet (synthetic)\n"
            "Mode:        training\n"
            "SingleSess:  False\n"
            "Batch size:  64 global\n"
            "             32 per device\n"
            "Num batches: 100\n"
            "Num epochs:  0.00\n"
            "Devices:     ['/cpu:0', '/cpu:1']\n"
            "NUMA bind:   False\n"
            "Data format: NHWC\n"
            "Precision:   f32\n"
            "Optimizer:   sgd\n"
            "Variables:   parameter_server\n"
            "==========\n");
}

TEST(Report, HeaderHasItsOptionalLinesInPlace) {
  Header header = plain_header();
  header.synthetic = false;
  header.single_session = true;
  header.batches_per_group = 4;
  header.num_epochs = 12.345;
  header.devices = {"horovod/gpu:0"};
  header.numa_bind = true;
  header.rewriter_config = "layout";
  header.variable_update = "replicated";
  header.cross_replica_sync = false;
  header.staged_vars = true;
  header.horovod_device = "gpu";
  EXPECT_EQ(header_text(header),
            "bench:       0.1\n"
            "Model:       resnet50\n"
            "Dataset:     imagenet\n"
            "Mode:        training\n"
            "SingleSess:  True\n"
            "Batch size:  64 global\n"
            "             32 per device\n"
            "             4 batches per prepocessing group\n"
            "Num batches: 100\n"
            "Num epochs:  12.35\n"
            "Devices:     ['horovod/gpu:0']\n"
            "NUMA bind:   True\n"
            "Data format: NHWC\n"
            "Precision:   f32\n"
            "RewriterConfig: layout\n"
            "Optimizer:   sgd\n"
            "Variables:   replicated\n"
            "AllReduce:   None\n"
            "Sync:        False\n"
            "Staged vars: True\n"
            "Horovod on:  gpu\n"
            "==========\n");
  header.all_reduce_spec = "nccl/xring";
  EXPECT_NE(header_text(header).find("\nAllReduce:   nccl/xring\n"), std::string::npos);
}

TEST(Report, PhasesAreTheOriginals) {
  EXPECT_EQ(printed([](std::ostream& out) {
              print_generating_model(out);
              print_initializing_graph(out);
              print_running_warm_up(out);
              print_done_warm_up(out);
              print_generating_model(out, true);
            }),
            "Generating training model\nInitializing graph\nRunning warm up\nDone warm up\n"
            "Generating evaluation model\n");
}

TEST(Report, ScoresHaveNames) {
  EXPECT_EQ(printed([](std::ostream& out) {
              print_scores(out, {{"AP", 0.25}, {"AP50", 0.51234}}, 5);
            }),
            "AP = 0.2500 AP50 = 0.5123 [5 examples]\n");
}

TEST(Report, StepTitlesFollowLossAndAccuracies) {
  EXPECT_EQ(
      printed([](std::ostream& out) { print_step_titles(out, "images", "total_loss", false); }),
      "Step\tImg/sec\ttotal_loss\n");
  EXPECT_EQ(printed([](std::ostream& out) { print_step_titles(out, "images", "base_loss", true); }),
            "Step\tImg/sec\tbase_loss\ttop_1_accuracy\ttop_5_accuracy\n");
  EXPECT_EQ(
      printed([](std::ostream& out) { print_step_titles(out, "examples", "total_loss", false); }),
      "Step\tExamples/sec\ttotal_loss\n");
}

TEST(Report, StepLinesAreTheOriginals) {
  const std::vector<std::chrono::nanoseconds> steps = {milliseconds(100), milliseconds(200),
                                                       milliseconds(100)};
  EXPECT_EQ(printed([&](std::ostream& out) {
              print_step(out, {.step = 3, .speed = speed_of_steps(32, steps), .loss = 8.1694});
            }),
            "3\timages/sec: 240.0 +/- 43.5 (jitter = 0.0)\t8.169\n");
  EXPECT_EQ(printed([](std::ostream& out) {
              print_step(out, {.step = 12345,
                               .speed = {135.46, 0, 0},
                               .loss = 0,
                               .accuracies = Accuracies{.top_1 = 0.25, .top_5 = 1}});
            }),
            "12345\timages/sec: 135.5 +/- 0.0 (jitter = 0.0)\t0.000\t0.250\t1.000\n");
}

/// Scripts recognize a step line by its format and split it at white space.
TEST(Report, StepLinesSplitIntoNineOrElevenFields) {
  const auto fields = [](const StepLine& step) {
    std::istringstream line(printed([&](std::ostream& out) { print_step(out, step); }));
    std::vector<std::string> out;
    for (std::string field; line >> field;) out.push_back(field);
    return out;
  };
  const auto nine = fields({.step = 1, .speed = {1, 2, 3}, .loss = 6.5});
  ASSERT_EQ(nine.size(), 9U);
  EXPECT_EQ(nine[8], "6.500");
  const auto eleven =
      fields({.step = 1, .speed = {1, 2, 3}, .loss = 6.5, .accuracies = Accuracies{0.1, 0.2}});
  ASSERT_EQ(eleven.size(), 11U);
  EXPECT_EQ(eleven[9], "0.100");
  EXPECT_EQ(eleven[10], "0.200");
}

TEST(Report, NumbersThatAreNotFinitePrintAsInPython) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto line = [](double loss) {
    return printed([&](std::ostream& out) { print_step(out, {.step = 1, .loss = loss}); });
  };
  EXPECT_TRUE(line(nan).ends_with("\tnan\n"));
  EXPECT_TRUE(line(-nan).ends_with("\tnan\n"));
  EXPECT_TRUE(line(-std::numeric_limits<double>::infinity()).ends_with("\t-inf\n"));
}

TEST(Report, TotalIsBetweenTwoLinesOf64Hyphens) {
  EXPECT_EQ(printed([](std::ostream& out) { print_total(out, "images", 11.875); }),
            "----------------------------------------------------------------\n"
            "total images/sec: 11.88\n"
            "----------------------------------------------------------------\n");
}

TEST(Report, TheTraceIsNamedAsInTheOriginal) {
  EXPECT_EQ(printed([](std::ostream& out) { print_dumping_trace(out, "/tmp/trace.json"); }),
            "Dumping trace to /tmp/trace.json\n");
}

TEST(Report, ListsPrintAsInPython) {
  EXPECT_EQ(python_list({}), "[]");
  EXPECT_EQ(python_list({"/gpu:0"}), "['/gpu:0']");
  EXPECT_EQ(python_list({"it's", "a\\b"}), "[\"it's\", 'a\\\\b']");
}

}  // namespace
}  // namespace bench::report

// Training of the models that read no images; the language model has a small vocabulary.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "bench/flags/test/usage_error.h"
#include "bench/loop/test/several_towers.h"
#include "bench/plan/input.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using testing::HasSubstr;

/// What training leaves.
struct Trained {
  /// The mean over the towers, of each step.
  std::vector<double> losses;
  std::map<std::string, std::vector<float>> variables;
  /// The variables with sparse gradients.
  int sparse = 0;
};

Trained train(std::vector<std::string> flags, int towers, int batch, int steps) {
  flags.insert(flags.end(),
               {"--device=cpu", "--variable_update=replicated", "--gradient_reduction=mean",
                "--init_learning_rate=1", fmt::format("--num_gpus={}", towers),
                fmt::format("--batch_size={}", batch)});
  const RunSettings settings = resolve_settings(parse({flags.begin(), flags.end()}));
  const Workload& workload = settings.workload;
  SeveralTowers several(
      settings, [](int) { return make_onednn_backend({.processors = {0}, .pin = false}); },
      initial_values(build_run_network(workload, batch), workload.seed));
  Tower& first = (*several).first();
  const auto input = make_run_input(settings, image_layout(workload, first.executor()));
  const auto examples_of_tower = static_cast<std::size_t>(batch);
  const LearningRate rate(workload.learning_rate);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const InputBatch examples = input->next();
    std::vector<double> losses(static_cast<std::size_t>(towers));
    (*several).run([&](int number) {
      Tower& tower = (*several)[number];
      feed_examples(tower, examples, static_cast<std::size_t>(number) * examples_of_tower);
      tower.set_parameters({.learning_rate = rate.at(step),
                            .gradient_scale = gradient_scale(workload),
                            .number = step});
      tower.upload_parameters();
      (*several).update(number)->begin_step();
      tower.enqueue_run();
      (*several).update(number)->update();
      tower.wait();
      losses[static_cast<std::size_t>(number)] = tower.executor().read_scalar("loss");
    });
    trained.losses.push_back(std::accumulate(losses.begin(), losses.end(), 0.0) / towers);
  }
  for (const Variable& variable : first.executor().graph().variables()) {
    const std::string& name = first.executor().graph().value(variable.value).name;
    trained.variables[name] = first.executor().read_variable(name);
  }
  trained.sparse = static_cast<int>(
      std::ranges::count_if(first.executor().segments(),
                            [](const OptimizerSegment& each) { return each.sparse_row > 0; }));
  return trained;
}

/// The norm of the difference as a share of the norm.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    norm += std::pow(double{a[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

/// Trains three steps on one tower, and on two with halves of its batch, and compares the losses
/// and the variables. Returns what one tower trained.
Trained expect_two_towers_train_as_one(const std::vector<std::string>& flags) {
  constexpr int kSteps = 3;
  Trained one = train(flags, 1, 4, kSteps);
  const Trained two = train(flags, 2, 2, kSteps);
  for (int step = 0; step < kSteps; ++step) {
    const auto at = static_cast<std::size_t>(step);
    EXPECT_NEAR(two.losses[at], one.losses[at], 1e-5) << step;
  }
  for (const auto& [name, values] : one.variables) {
    EXPECT_LT(distance(values, two.variables.at(name)), 1e-5) << name;
  }
  return one;
}

TEST(LanguageModel, TrainsOnTwoTowersAsOnOneWithTheJoinedBatch) {
  const Trained one = expect_two_towers_train_as_one({"--model=lstm_lm", "--num_classes=40"});
  EXPECT_EQ(one.variables.size(), 11U);
  // Training changed the variables.
  const std::vector<float>& bias = one.variables.at("fc.bias");
  EXPECT_TRUE(std::ranges::none_of(bias, [](float value) { return value == 0; }));
}

TEST(CollaborativeFiltering, TrainsOnTwoTowersAsOnOneWithTheJoinedBatch) {
  const Trained one = expect_two_towers_train_as_one({"--model=ncf"});
  EXPECT_EQ(one.variables.size(), 10U);
  const Trained untrained = train({"--model=ncf"}, 1, 4, 0);
  for (const auto& [name, values] : one.variables) {
    EXPECT_NE(values, untrained.variables.at(name)) << name;
  }
}

TEST(CollaborativeFiltering, TrainsOnTwoTowersAsOnOneWithSparseGradients) {
  const Trained one = expect_two_towers_train_as_one({"--model=ncf", "--weight_decay=0"});
  EXPECT_EQ(one.sparse, 2);
}

TEST(CollaborativeFiltering, TrainsTheSameWithSparseAndDenseGradients) {
  const bool has_bf16 = static_cast<bool>(
      computes_in(*make_onednn_backend({.processors = {0}, .pin = false}), DType::bf16));
  for (const std::string type : {"f32", "bf16"}) {
    if (type == "bf16" && !has_bf16) {
      continue;
    }
    const std::vector<std::string> flags{"--model=ncf", "--weight_decay=0", "--gradient_clip=1e-3",
                                         "--dtype=" + type};
    std::vector<std::string> dense_flags = flags;
    dense_flags.emplace_back("--sparse_to_dense_grads");
    for (const int towers : {1, 2}) {
      const Trained sparse = train(flags, towers, 4 / towers, 3);
      const Trained dense = train(dense_flags, towers, 4 / towers, 3);
      EXPECT_EQ(sparse.sparse, 2);
      EXPECT_EQ(dense.sparse, 0);
      EXPECT_EQ(sparse.variables, dense.variables) << type << " " << towers;
    }
  }
}

TEST(LanguageModel, RefusesFlagsForImages) {
  const auto refused = [](const std::string& flag) {
    return usage_error([&] {
      resolve_settings(parse({"--model=lstm_lm", "--device=cpu", "--forward_only", flag}));
    });
  };
  for (const std::string flag : {"image_size=64", "input_transfer=uint8"}) {
    EXPECT_THAT(refused("--" + flag), HasSubstr("is for images, but --model=lstm_lm reads none"))
        << flag;
  }
  EXPECT_EQ(usage_error([] {
              resolve_settings(
                  parse({"--model=lstm_lm", "--device=cpu", "--data_dir=.", "--diagnose_input=1"}));
            }),
            "--diagnose_input repeats batches of images, but --model=lstm_lm reads none; omit this "
            "flag");
  EXPECT_EQ(
      refused("--input_file=x"),
      "--input_file has images and labels, but --model=lstm_lm does not classify images; omit "
      "this flag");
  EXPECT_EQ(
      usage_error([] {
        resolve_settings(
            parse({"--model=lstm_lm", "--device=cpu", "--train_dir=x",
                   "--eval_during_training_every_n_steps=2", "--stop_at_top_1_accuracy=0.5"}));
      }),
      "--stop_at_top_1_accuracy: the evaluation of lstm_lm computes no accuracy; omit this flag");
  EXPECT_EQ(refused("--dtype=int8"),
            "--model=lstm_lm: --dtype=int8 works only with networks that classify images");
}

TEST(DeepSpeech2, RefusesFlagsForACrossEntropy) {
  for (const std::string flag : {"label_smoothing=0.1", "print_training_accuracy"}) {
    EXPECT_THAT(usage_error([&] {
                  resolve_settings(parse({"--model=deepspeech2", "--device=cpu", "--" + flag}));
                }),
                HasSubstr("needs a cross-entropy loss, but --model=deepspeech2 has another"))
        << flag;
  }
}

TEST(CollaborativeFiltering, RefusesAnEvaluation) {
  EXPECT_EQ(usage_error([] {
              resolve_settings(parse({"--model=ncf", "--device=cpu", "--eval", "--init_from=x"}));
            }),
            "--eval: ncf cannot be evaluated, because bench reads no real data for it");
}

TEST(CollaborativeFiltering, RefusesANumberOfClasses) {
  EXPECT_EQ(usage_error([] {
              resolve_settings(parse({"--model=ncf", "--device=cpu", "--num_classes=3"}));
            }),
            "--num_classes: ncf always has 2 classes; omit this flag");
}

}  // namespace
}  // namespace bench

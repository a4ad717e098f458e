#include "kernels/cpu/loss.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::random_floats;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Sizes {
  std::int64_t rows;
  std::int64_t classes;
};
const std::vector<Sizes> kSizes{{1, 1}, {3, 2}, {5, 10}, {4, 16}, {7, 1001}};

std::vector<std::int32_t> labels_for(const Sizes& sizes) {
  std::vector<std::int32_t> labels;
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    labels.push_back(static_cast<std::int32_t>((row * 37 + sizes.classes - 1) % sizes.classes));
  }
  return labels;
}

/// The plain loss, and one with everything on.
const std::vector<SoftmaxCrossEntropyAttributes> kAttributes{
    {}, {.label_smoothing = 0.1, .weight = 0.4}};

/// What the probability of a class should be.
double target(const SoftmaxCrossEntropyAttributes& attributes, const Sizes& sizes, bool hot) {
  return (hot ? 1 - attributes.label_smoothing : 0) +
         attributes.label_smoothing / static_cast<double>(sizes.classes);
}

struct Oracle {
  double loss = 0;
  std::vector<double> probabilities;

  Oracle(const SoftmaxCrossEntropyAttributes& attributes, const Sizes& sizes,
         const std::vector<float>& logits, const std::vector<std::int32_t>& labels)
      : probabilities(logits.size()) {
    for (std::int64_t row = 0; row < sizes.rows; ++row) {
      const auto begin = logits.begin() + row * sizes.classes;
      const auto top = static_cast<double>(*std::max_element(begin, begin + sizes.classes));
      double sum = 0;
      for (std::int64_t c = 0; c < sizes.classes; ++c) {
        sum += std::exp(static_cast<double>(begin[c]) - top);
      }
      for (std::int64_t c = 0; c < sizes.classes; ++c) {
        probabilities[at(row * sizes.classes + c)] =
            std::exp(static_cast<double>(begin[c]) - top) / sum;
      }
      for (std::int64_t c = 0; c < sizes.classes; ++c) {
        loss += attributes.weight * target(attributes, sizes, labels[at(row)] == c) *
                (std::log(sum) + top - static_cast<double>(begin[c])) /
                static_cast<double>(sizes.rows);
      }
    }
  }
};

/// The kernel against the oracle, apart and in place.
void expect_loss(const SoftmaxCrossEntropyAttributes& attributes, const Sizes& sizes,
                 float deviation) {
  const auto labels = labels_for(sizes);
  const auto values = random_floats(sizes.rows * sizes.classes, 1, 50, deviation);
  const Oracle oracle(attributes, sizes, values, labels);
  test::for_teams([&](ThreadTeam& team) {
    for (const bool in_place : {false, true}) {
      const GuardedFloats logits(values), apart(sizes.rows * sizes.classes);
      const GuardedFloats& probabilities = in_place ? logits : apart;
      const double loss = softmax_cross_entropy(team, {.attributes = attributes,
                                                       .rows = sizes.rows,
                                                       .classes = sizes.classes,
                                                       .logits = logits.data(),
                                                       .labels = labels.data(),
                                                       .probabilities = probabilities.data()});
      EXPECT_TRUE(close(loss, oracle.loss, 1e-6));
      for (std::int64_t i = 0; i < probabilities.count(); ++i) {
        ASSERT_TRUE(
            close(static_cast<double>(probabilities[i]), oracle.probabilities[at(i)], 1e-6));
      }
      EXPECT_TRUE(probabilities.intact());
    }
  });
}

TEST(SoftmaxCrossEntropy, EqualsDoubleForSmallAndLargeLogits) {
  for (const auto& attributes : kAttributes) {
    for (const Sizes& sizes : kSizes) {
      for (const float deviation : {1.0F, 300.0F}) {
        expect_loss(attributes, sizes, deviation);
      }
    }
  }
}

TEST(SoftmaxCrossEntropy, BearsALogitOfMinusInfinityWithoutSmoothing) {
  test::for_teams([](ThreadTeam& team) {
    const std::vector<std::int32_t> labels{0};
    const GuardedFloats logits(std::vector<float>{1, -std::numeric_limits<float>::infinity(), 1});
    EXPECT_TRUE(close(softmax_cross_entropy(team, {.rows = 1,
                                                   .classes = 3,
                                                   .logits = logits.data(),
                                                   .labels = labels.data(),
                                                   .probabilities = logits.data()}),
                      std::log(2.0), 1e-6));
  });
}

TEST(SoftmaxCrossEntropy, KeepsNaN) {
  test::for_teams([](ThreadTeam& team) {
    const std::vector<std::int32_t> labels{2};
    auto values = random_floats(40, 1);
    values[7] = std::numeric_limits<float>::quiet_NaN();
    const GuardedFloats logits(values);
    EXPECT_TRUE(std::isnan(softmax_cross_entropy(team, {.rows = 1,
                                                        .classes = 40,
                                                        .logits = logits.data(),
                                                        .labels = labels.data(),
                                                        .probabilities = logits.data()})));
  });
}

/// The kernel against the formula, apart and in place.
void expect_gradient(const SoftmaxCrossEntropyAttributes& attributes, const Sizes& sizes) {
  const auto labels = labels_for(sizes);
  const auto values = random_floats(sizes.rows * sizes.classes, 1);
  test::for_teams([&](ThreadTeam& team) {
    for (const bool in_place : {false, true}) {
      const GuardedFloats probabilities(values), apart(sizes.rows * sizes.classes);
      const GuardedFloats& dlogits = in_place ? probabilities : apart;
      softmax_cross_entropy_backward(team, {.attributes = attributes,
                                            .rows = sizes.rows,
                                            .classes = sizes.classes,
                                            .probabilities = probabilities.data(),
                                            .labels = labels.data(),
                                            .dloss = 0.5,
                                            .dlogits = dlogits.data()});
      for (std::int64_t i = 0; i < dlogits.count(); ++i) {
        const bool hot = labels[at(i / sizes.classes)] == i % sizes.classes;
        const double expected =
            (static_cast<double>(values[at(i)]) - target(attributes, sizes, hot)) * 0.5 *
            attributes.weight / static_cast<double>(sizes.rows);
        ASSERT_TRUE(close(static_cast<double>(dlogits[i]), expected, 2e-7));
      }
      EXPECT_TRUE(dlogits.intact());
    }
  });
}

TEST(SoftmaxCrossEntropyBackward, IsProbabilityMinusTarget) {
  for (const auto& attributes : kAttributes) {
    for (const Sizes& sizes : kSizes) {
      expect_gradient(attributes, sizes);
    }
  }
}

TEST(TopKAccuracy, CountsStrictlyLargerLogits) {
  const std::vector<float> values{1, 2, 3, 3,  //
                                  5, 5, 5, 5,  //
                                  4, 3, 2, 1};
  const std::vector<std::int32_t> labels{2, 0, 3};
  test::for_teams([&](ThreadTeam& team) {
    const GuardedFloats logits(values);
    const auto accuracy = [&](std::int64_t k) {
      return top_k_accuracy(
          team,
          {.rows = 3, .classes = 4, .logits = logits.data(), .labels = labels.data(), .k = k});
    };
    EXPECT_EQ(accuracy(1), 2.0 / 3);
    EXPECT_EQ(accuracy(3), 2.0 / 3);
    EXPECT_EQ(accuracy(4), 1);
  });
}

TEST(TopKAccuracy, CountsANanLogitAsAMiss) {
  const std::vector<float> values{std::nanf(""), 1, 2, 3};
  const std::vector<std::int32_t> labels{0};
  test::for_teams([&](ThreadTeam& team) {
    const GuardedFloats logits(values);
    EXPECT_EQ(
        top_k_accuracy(
            team,
            {.rows = 1, .classes = 4, .logits = logits.data(), .labels = labels.data(), .k = 4}),
        0);
  });
}

TEST(TopKAccuracy, AgreesWithSortingOnManyClasses) {
  for (const Sizes& sizes : kSizes) {
    const auto labels = labels_for(sizes);
    const auto values = random_floats(sizes.rows * sizes.classes, 3);
    for (const std::int64_t k : {1, 5}) {
      double hits = 0;
      for (std::int64_t row = 0; row < sizes.rows; ++row) {
        const auto begin = values.begin() + row * sizes.classes;
        const float of_label = begin[labels[at(row)]];
        const auto larger = std::count_if(begin, begin + sizes.classes,
                                          [&](float logit) { return logit > of_label; });
        hits += larger < k ? 1 : 0;
      }
      test::for_teams([&](ThreadTeam& team) {
        const GuardedFloats logits(values);
        EXPECT_EQ(top_k_accuracy(team, {.rows = sizes.rows,
                                        .classes = sizes.classes,
                                        .logits = logits.data(),
                                        .labels = labels.data(),
                                        .k = k}),
                  hits / static_cast<double>(sizes.rows));
      });
    }
  }
}

TEST(Loss, RefusesLabelsOutsideTheClasses) {
  ThreadTeam team({0}, false);
  const GuardedFloats logits(random_floats(4, 1));
  for (const std::int32_t label : {-1, 4}) {
    const std::vector<std::int32_t> labels{label};
    EXPECT_THROW(softmax_cross_entropy(team, {.rows = 1,
                                              .classes = 4,
                                              .logits = logits.data(),
                                              .labels = labels.data(),
                                              .probabilities = logits.data()}),
                 DataError);
    EXPECT_THROW(
        top_k_accuracy(team,
                       {.rows = 1, .classes = 4, .logits = logits.data(), .labels = labels.data()}),
        DataError);
  }
}

TEST(SumOfSquares, AddsAllTensorsInDouble) {
  std::vector<std::vector<float>> values;
  double expected = 0;
  for (const std::int64_t count : {0, 1, 15, 4097, 3}) {
    values.push_back(random_floats(count, static_cast<std::uint64_t>(count), 0.5F));
    for (const float value : values.back()) {
      expected += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  test::for_teams([&](ThreadTeam& team) {
    std::vector<std::unique_ptr<GuardedFloats>> memory;
    std::vector<std::span<const float>> tensors;
    for (const auto& each : values) {
      memory.push_back(std::make_unique<GuardedFloats>(each));
      tensors.emplace_back(memory.back()->data(), each.size());
    }
    const double sum = sum_of_squares(team, tensors);
    EXPECT_TRUE(close(sum, expected, 2e-7));
    EXPECT_EQ(sum, sum_of_squares(team, tensors));
  });
}

}  // namespace
}  // namespace bench::cpu

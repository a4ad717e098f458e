#pragma once

#include "models/zoo/builder.h"
#include "models/zoo/zoo.h"

namespace bench {

/// The extents of Deep Speech 2.
struct DeepSpeech2Size {
  /// Windows of the spectrogram, each with 161 frequencies.
  std::int64_t windows = 3494;
  /// Characters of the text.
  std::int64_t characters = 576;
  RnnCell cell = RnnCell::lstm;
  int layers = 5;
  std::int64_t units = 800;
};

/// The 29 classes are a space, the letters, an apostrophe, a hyphen and, last, the blank.
std::vector<ExampleInput> deepspeech2_inputs(const DeepSpeech2Size& size, std::int64_t num_classes);
/// Amodei et al., arXiv:1512.02595, as in tf_cnn_benchmarks: two convolutions over windows and
/// frequencies, bidirectional recurrent layers, and a class per character and the blank. Inputs:
/// features[N,1,windows,161].
ValueId build_deepspeech2(NetworkBuilder& net, ValueId features, const DeepSpeech2Size& size);
/// The CTC loss of its logits; inputs: labels, their counts, and the counts of frames.
ValueId deepspeech2_loss(NetworkBuilder& net, ValueId logits, std::span<const ValueId> inputs);

template <DeepSpeech2Size kSize>
inline constexpr NumberModel kDeepSpeech2Of{
    .example = "utterance",
    .unit = {.name = "examples"},
    .inputs = [](std::int64_t num_classes) { return deepspeech2_inputs(kSize, num_classes); },
    .loss_inputs = 3,
    .build =
        [](NetworkBuilder& net, std::span<const ValueId> inputs) {
          return build_deepspeech2(net, inputs[0], kSize);
        },
    .loss = deepspeech2_loss,
    .metric = ModelMetric::error_rates};

}  // namespace bench

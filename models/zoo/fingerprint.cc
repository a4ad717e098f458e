#include "models/zoo/fingerprint.h"

#include <array>
#include <iomanip>
#include <sstream>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

struct Row {
  std::string_view name;
  std::string_view dataset;
  std::uint64_t definition;
  /// The number of parts, which are in the order of the rows.
  std::size_t parts;
};

constexpr std::array kRows{
#define BENCH_FINGERPRINT(name, dataset, definition, parts) Row{name, dataset, definition, parts},
#define BENCH_FINGERPRINT_PART(kind, first, last, size, direction)
#include "models/zoo/fingerprints.inc"
#undef BENCH_FINGERPRINT
#undef BENCH_FINGERPRINT_PART
};

constexpr auto kParts = std::to_array<FingerprintPart>({
#define BENCH_FINGERPRINT(name, dataset, definition, parts)
#define BENCH_FINGERPRINT_PART(kind, first, last, size, direction) \
  FingerprintPart{FingerprintKind::kind, first, last, size, direction},
#include "models/zoo/fingerprints.inc"
#undef BENCH_FINGERPRINT
#undef BENCH_FINGERPRINT_PART
});

}  // namespace

std::string_view name_of(FingerprintKind kind) {
  switch (kind) {
    case FingerprintKind::loss:
      return "loss";
    case FingerprintKind::logits:
      return "logits";
    case FingerprintKind::inference_logits:
      return "inference logits";
    case FingerprintKind::weight_gradients:
      return "weight gradients";
    case FingerprintKind::bias_gradients:
      return "bias gradients";
    case FingerprintKind::scale_gradients:
      return "scale gradients";
    case FingerprintKind::shift_gradients:
      return "shift gradients";
    case FingerprintKind::means:
      return "means";
    case FingerprintKind::variances:
      return "variances";
  }
  throw InternalError("a kind of fingerprint part has no name");
}

std::string name_of(const FingerprintPart& part) {
  std::string name(name_of(part.kind));
  return part.first == 0 ? name : fmt::format("{} {}-{}", name, part.first, part.last);
}

StoredFingerprint stored_fingerprint(const Model& model) {
  std::size_t first = 0;
  for (const Row& row : kRows) {
    if (row.name == model.name && row.dataset == model.dataset) {
      return {.definition = row.definition, .parts = std::span(kParts).subspan(first, row.parts)};
    }
    first += row.parts;
  }
  return {};
}

DefinedNetworks defined_networks(const Model& model) {
  NetworkOptions options{.batch = 2};
  if (model.num_classes > 0) {
    options.num_classes = model.num_classes;
  }
  Graph training = build_network(model, options);
  options.training = false;
  return {.training = std::move(training), .inference = build_network(model, options)};
}

std::uint64_t definition_of(const DefinedNetworks& networks) {
  constexpr std::uint64_t kMask = 0xFFFFFFFFFFFF;
  constexpr int kAllDigits = 17;
  std::ostringstream text;
  text << std::setprecision(kAllDigits) << networks.training << networks.inference;
  return hash_name(text.str()) & kMask;
}

std::uint64_t network_definition(const Model& model) {
  return definition_of(defined_networks(model));
}

}  // namespace bench

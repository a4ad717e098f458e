// Prints rows of models/zoo/fingerprints.inc, computed by the reference backend in f64. Arguments
// name models ("resnet20" for every dataset); without arguments it prints all models.
// tools/update_fingerprints writes the rows into the table.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <span>

#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "bench/plan/verified_run.h"
#include "kernels/core_library.h"
#include "kernels/reference/reference_backend.h"
#include "models/base/text.h"

namespace {

using namespace bench;

std::vector<FingerprintPart> measure(const Model& model, Backend& backend) {
  constexpr std::int64_t kBatch = 2;
  std::vector<FingerprintPart> parts;
  for (const bool training : {true, false}) {
    ParseResult parsed;
    parsed.flags.model = model.name;
    parsed.flags.data_name = model.dataset;
    parsed.flags.device = "reference";
    parsed.flags.dtype = "f64";
    parsed.flags.forward_only = !training;
    const RunSettings settings = with_batch(resolve_settings(parsed), kBatch);
    const FingerprintStimulus stimulus = fingerprint_stimulus(settings.workload);
    Tower tower(build_run_graph(settings, backend, settings.workload.batch), backend, {},
                stimulus.values);
    const auto measured = training ? measure_training_fingerprint(tower, stimulus)
                                   : measure_inference_fingerprint(tower, stimulus);
    parts.insert(parts.end(), measured.begin(), measured.end());
  }
  return parts;
}

/// The enumerator's name: the kind's name with underscores.
std::string identifier_of(FingerprintKind kind) {
  std::string name(name_of(kind));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

void print(const Model& model, std::span<const FingerprintPart> parts) {
  constexpr int kDigits = 10;
  std::cout << "BENCH_FINGERPRINT(\"" << model.name << "\", \"" << model.dataset << "\", 0x"
            << std::hex << network_definition(model) << std::dec << ", " << parts.size() << ")\n"
            << std::setprecision(kDigits);
  for (const FingerprintPart& part : parts) {
    std::cout << "BENCH_FINGERPRINT_PART(" << identifier_of(part.kind) << ", " << part.first << ", "
              << part.last << ", " << part.size << ", " << part.direction << ")\n";
  }
  std::cout << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
  if (!core_fits("bench_fingerprints")) {
    return 1;
  }
  const std::span<char* const> arguments(argv + 1, argv + argc);
  if (std::any_of(arguments.begin(), arguments.end(),
                  [](std::string_view word) { return word == "--help"; })) {
    std::cout << "Usage: bench_fingerprints [NETWORK]...\n"
                 "Prints the rows of models/zoo/fingerprints.inc for these networks, by default "
                 "for all.\n";
    return 0;
  }
  std::vector<std::string_view> names;
  for (const std::string_view given : arguments) {
    names.push_back(listed_model_name(given));
    if (names.back().empty()) {
      std::cerr << "bench_fingerprints: " << printable(given)
                << ": must be a network that bench --list_models lists\n";
      return 2;
    }
  }
  const auto backend = make_reference_backend();
  for (const Model& model : all_models()) {
    if (!names.empty() && std::find(names.begin(), names.end(), model.name) == names.end()) {
      continue;
    }
    std::cerr << model.dataset << " " << model.name << "\n";
    print(model, measure(model, *backend));
  }
  return 0;
}

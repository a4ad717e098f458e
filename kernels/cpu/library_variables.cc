#include "kernels/cpu/library_variables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

/// From the poorest to the richest.
constexpr std::array<std::string_view, 11> kIsas{"SSE41",
                                                 "AVX",
                                                 "AVX2",
                                                 "AVX2_VNNI",
                                                 "AVX2_VNNI_2",
                                                 "AVX512_CORE",
                                                 "AVX512_CORE_VNNI",
                                                 "AVX512_CORE_BF16",
                                                 "AVX512_CORE_FP16",
                                                 "AVX512_CORE_AMX",
                                                 "AVX512_CORE_AMX_FP16"};

struct Variable {
  std::string text;   ///< "ONEDNN_VERBOSE=1"
  std::string value;  ///< in capitals, as oneDNN ignores case
};

/// The variable that oneDNN reads for `name`: of two prefixes the newer one first.
std::optional<Variable> read(const Environment& environment, const std::string& name) {
  for (const char* prefix : {"ONEDNN_", "DNNL_"}) {
    std::string value = environment(prefix + name);
    if (!value.empty()) {
      std::string text = fmt::format("{}{}={}", prefix, name, value);
      std::transform(value.begin(), value.end(), value.begin(),
                     [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
      return Variable{.text = std::move(text), .value = std::move(value)};
    }
  }
  return std::nullopt;
}

std::ptrdiff_t rank(std::string_view isa) {
  return std::find(kIsas.begin(), kIsas.end(), isa) - kIsas.begin();
}

bool is_known(std::string_view isa) { return rank(isa) < std::ssize(kIsas); }

}  // namespace

std::string own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::optional<std::string> isa_limit(const Environment& environment) {
  const auto variable = read(environment, "MAX_CPU_ISA");
  return variable && is_known(variable->value) ? std::optional(variable->value) : std::nullopt;
}

bool is_poorer(std::string_view one, std::string_view other) {
  check(is_known(one) && is_known(other), "oneDNN does not know this instruction set");
  return rank(one) < rank(other);
}

std::vector<std::string> costly_variables(const Cpuid& cpuid, const Environment& environment) {
  std::vector<std::string> sentences;
  const std::string richest = richest_isa(cpuid);
  const auto limit = isa_limit(environment);
  if (limit && !richest.empty() && is_poorer(*limit, richest)) {
    sentences.push_back(
        fmt::format("{} prevents oneDNN from using {}, which this processor has. Kernels may take "
                    "several times as long; unset it to measure the processor",
                    read(environment, "MAX_CPU_ISA")->text, richest));
  }
  const auto hints = read(environment, "CPU_ISA_HINTS");
  if (hints && hints->value == "PREFER_YMM" && !richest.empty() &&
      !is_poorer(richest, "AVX512_CORE")) {
    sentences.push_back(
        fmt::format("{} makes oneDNN use only half of each vector register. Kernels may take "
                    "longer; unset it to measure the processor",
                    hints->text));
  }
  const auto verbose = read(environment, "VERBOSE");
  if (verbose && verbose->value != "0" && verbose->value != "NONE") {
    sentences.push_back(
        fmt::format("{} makes oneDNN write a line to stderr for each kernel. Steps take longer; "
                    "unset it to measure",
                    verbose->text));
  }
  return sentences;
}

}  // namespace bench

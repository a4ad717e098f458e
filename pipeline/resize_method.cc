#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/base/errors.h"
#include "pipeline/input.h"

namespace bench {

namespace {

constexpr std::array<std::pair<std::string_view, ResizeMethod>, 6> kMethods = {{
    {"bilinear", ResizeMethod::bilinear},
    {"nearest", ResizeMethod::nearest},
    {"bicubic", ResizeMethod::bicubic},
    {"area", ResizeMethod::area},
    {"round_robin", ResizeMethod::round_robin},
    {"crop", ResizeMethod::crop},
}};

}  // namespace

std::string_view name_of(ResizeMethod method) {
  return std::find_if(kMethods.begin(), kMethods.end(),
                      [&](const auto& row) { return row.second == method; })
      ->first;
}

ResizeMethod resize_method_from(std::string_view name) {
  std::string names;
  for (const auto& [known, method] : kMethods) {
    if (known == name) {
      return method;
    }
    if (!names.empty()) {
      names += ", ";
    }
    names += known;
  }
  throw UsageError(fmt::format("--resize_method={}: unknown value; accepted: {}", name, names));
}

}  // namespace bench

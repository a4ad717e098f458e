#pragma once

#include <span>

namespace bench::results {

/// A published speed, for comparison. This program measured none of them.
struct PublishedFigure {
  const char* hardware;
  const char* model;
  const char* setting;
  double images_per_sec;
  const char* source;
  const char* date;  ///< Date of the publication, or the version of the software that it names.
};

std::span<const PublishedFigure> published_figures();

}  // namespace bench::results

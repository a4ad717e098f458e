#pragma once

#include <span>

namespace bench::results {

/// A speed that somebody published, for readers to see where a machine stands. None was measured by
/// this program.
struct PublishedFigure {
  const char* hardware;
  const char* model;
  const char* setting;
  double images_per_sec;
  const char* source;
  const char* date;  ///< Of the publication, or the version of the software that it names.
};

std::span<const PublishedFigure> published_figures();

}  // namespace bench::results

#pragma once

#include <string>
#include <vector>

#include "models/base/errors.h"

namespace bench {

/// Joins the sentences with semicolons.
inline std::string in_one_line(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    if (!text.empty()) {
      text += "; ";
    }
    text += sentence;
  }
  return text;
}

}  // namespace bench

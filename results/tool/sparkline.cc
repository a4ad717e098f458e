#include "results/tool/sparkline.h"

#include <algorithm>
#include <array>

namespace bench::results {

std::string sparkline(std::span<const double> values, std::size_t width) {
  static constexpr std::array kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  if (values.empty()) {
    return line;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const std::size_t blocks = std::min(width, values.size());
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = i * values.size() / blocks;
    const std::size_t end = (i + 1) * values.size() / blocks;
    const std::span<const double> own = values.subspan(begin, end - begin);
    const double value = *std::max_element(own.begin(), own.end());
    const double share = *most > *least ? (value - *least) / (*most - *least) : 0;
    const auto level = static_cast<std::size_t>(share * static_cast<double>(kBlocks.size()));
    line += kBlocks.at(std::min(level, kBlocks.size() - 1));
  }
  return line;
}

}  // namespace bench::results

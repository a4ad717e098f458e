#pragma once

#include <cstddef>

namespace bench {

/// Of x86-64, and what other machines take advice in.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;

/// Asks the system for huge pages behind memory of this process. Advice only: without them
/// everything works, slower.
void advise_huge_pages(void* memory, std::size_t bytes);

}  // namespace bench

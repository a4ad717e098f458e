#pragma once

#include <cstddef>

namespace bench {

/// The size of a huge page on x86-64, and the unit of the advice on other machines.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;

/// Asks the system to back this memory of the process with huge pages. This is only advice: without
/// huge pages everything works, but slower.
void advise_huge_pages(void* memory, std::size_t bytes);

}  // namespace bench

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::results {

/// Milliseconds since 1970 of a time in ISO 8601, such as 2026-01-31T23:59:59.123Z: a blank may
/// stand for the T, seconds may have any number of decimals, and an offset (+01:00, -0800) may
/// stand for the Z, without which the time counts as UTC. None where it is no such time.
std::optional<std::int64_t> utc_ms(std::string_view text);

}  // namespace bench::results

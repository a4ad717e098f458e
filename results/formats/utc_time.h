#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::results {

/// Parses an ISO 8601 time, such as 2026-01-31T23:59:59.123Z, to milliseconds since 1970. A blank
/// may replace the T, and seconds may have any number of decimals. An offset (+01:00, -0800) may
/// replace the Z; without either the time is UTC. Empty for any other text.
std::optional<std::int64_t> utc_ms(std::string_view text);

}  // namespace bench::results

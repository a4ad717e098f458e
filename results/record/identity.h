#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench::results {

/// SHA-256 (FIPS 180-4) of `bytes`, as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// A UUID of version 7 (RFC 9562): milliseconds since 1970, then 74 of the given random bits.
std::string uuid_v7(std::chrono::system_clock::time_point time,
                    const std::array<std::uint8_t, 10>& random);

/// A new uuid_v7 for a run that starts at `time`, random bits from the system.
std::string new_run_uuid(std::chrono::system_clock::time_point time);

/// `time` in UTC as ISO 8601 with milliseconds: 2026-01-31T23:59:59.123Z.
std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace bench::results

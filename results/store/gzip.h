#pragma once

#include <string>
#include <string_view>

namespace bench::results {

/// `bytes` in gzip's format (RFC 1952).
std::string gzip(std::string_view bytes);

/// The bytes that gzip() was given. Throws DataError if `packed` is damaged.
std::string gunzip(std::string_view packed);

}  // namespace bench::results

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/errors.h"

namespace bench {

/// Why a record cannot be used.
enum class BadRecord : std::uint8_t {
  file,      ///< It cannot be read.
  checksum,  ///< The checksum of its data does not match.
  fields,    ///< It is not an Example, or a field is missing or malformed.
  label,     ///< Its label is out of range.
  image,     ///< Its image cannot be decoded.
};
inline constexpr std::size_t kBadRecordReasons = 5;

/// A record that cannot be used: file, offset and reason.
class BadRecordError : public DataError {
 public:
  BadRecordError(BadRecord reason, const std::string& message, std::int64_t records = 1)
      : DataError(message), reason_(reason), records_(records) {}
  [[nodiscard]] BadRecord reason() const { return reason_; }
  /// The number of records that are lost. More than one if a file cannot be read further; the
  /// number is then an estimate.
  [[nodiscard]] std::int64_t records() const { return records_; }

 private:
  BadRecord reason_;
  std::int64_t records_;
};

/// The number of bad records that a run accepts: a number, or a share of the images so far.
struct BadRecordLimit {
  std::int64_t count = 0;
  /// Used if `is_share`: 0 to 1.
  double share = 0.01;
  bool is_share = true;

  /// The accepted number among the first `images` images. A share counts them as at least 1000, so
  /// that an early bad record does not end the run.
  [[nodiscard]] std::int64_t accepted(std::int64_t images) const;
  /// The flag's value: 10 or 1%.
  [[nodiscard]] std::string text() const;
};

/// Parses N or P%. Throws UsageError that lists the accepted values.
BadRecordLimit bad_record_limit_from(std::string_view text);

/// What to do with bad records.
struct BadRecordPolicy {
  /// A copy of another image of its batch takes the place of a bad record. false: the first bad
  /// record ends the run.
  bool skip = false;
  BadRecordLimit limit = {};
};

/// The bad records of a run.
struct BadRecordCounts {
  std::array<std::int64_t, kBadRecordReasons> by_reason{};
  /// File, offset and reason of the first one.
  std::string first;

  void add(const BadRecordError& error);
  [[nodiscard]] std::int64_t total() const;
};

/// Such as "3 bad records (2 images, 1 checksum), first: FILE, offset 0: ...".
std::string describe(const BadRecordCounts& counts);

}  // namespace bench

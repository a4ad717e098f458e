#include "variable_mgmt/collectives/all_reduce_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 13> kAlgorithms = {
    "nccl",        "nccl/xring", "nccl/rechd", "nccl/pscpu", "xring", "pscpu", "psgpu",
    "pscpu/pscpu", "collective", "shm",        "rechd",      "tree",  "auto"};

/// A part of the spec between colons, and where it begins, counted from 1.
struct SpecPart {
  std::string_view text;
  std::size_t number = 1;
  std::size_t character = 1;
};

std::vector<SpecPart> split_spec(std::string_view spec) {
  std::vector<SpecPart> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(spec.find(':', begin), spec.size());
    parts.push_back({.text = spec.substr(begin, end - begin),
                     .number = parts.size() + 1,
                     .character = begin + 1});
    if (end == spec.size()) {
      return parts;
    }
    begin = end + 1;
  }
}

[[noreturn]] void refuse_part(std::string_view spec, const SpecPart& part,
                              std::string_view accepted) {
  throw UsageError(cat("--all_reduce_spec=", spec, ": part ", part.number, " (character ",
                       part.character, ") is '", part.text, "'; accepted is ", accepted));
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string describe_algorithms() {
  std::string text;
  for (const std::string_view name : kAlgorithms) {
    text += cat(text.empty() ? "" : ", ", name);
  }
  return text;
}

/// Those that have their place in a range of sizes.
std::string describe_algorithms_of_one_host() {
  return "xring, pscpu, psgpu, collective, shm, rechd, tree";
}

AllReduceRange read_algorithm(std::string_view spec, const SpecPart& part) {
  const std::size_t mark = std::min(part.text.find('#'), part.text.size());
  AllReduceRange range{.algorithm = std::string(part.text.substr(0, mark))};
  if (std::find(kAlgorithms.begin(), kAlgorithms.end(), range.algorithm) == kAlgorithms.end()) {
    refuse_part(spec, part, cat("one of ", describe_algorithms(), ", with #N for N shards"));
  }
  if (mark < part.text.size() &&
      (!read_number(part.text.substr(mark + 1), range.shards) || range.shards < 1)) {
    refuse_part(spec, part, cat(range.algorithm, "#N with a whole number of shards from 1 on"));
  }
  return range;
}

std::int64_t read_limit(std::string_view spec, const SpecPart& part, std::int64_t least) {
  constexpr std::string_view kSuffixes = "KMGT";
  constexpr std::int64_t kStep = 1024;
  std::string_view digits = part.text;
  std::int64_t unit = 1;
  if (!digits.empty()) {
    const char letter = digits.back() == 'k' ? 'K' : digits.back();
    const std::size_t power = kSuffixes.find(letter);
    if (power != std::string_view::npos) {
      digits.remove_suffix(1);
      for (std::size_t i = 0; i <= power; ++i) {
        unit *= kStep;
      }
    }
  }
  std::int64_t number = 0;
  if (!read_number(digits, number) || number < 0 ||
      number > std::numeric_limits<std::int64_t>::max() / unit) {
    refuse_part(spec, part, "a size in bytes: a whole number, optionally with K, M, G or T");
  }
  if (number * unit <= least) {
    refuse_part(spec, part, cat("a size of more than the limit before it, ", least, " bytes"));
  }
  return number * unit;
}

}  // namespace

std::span<const std::string_view> all_reduce_algorithms() { return kAlgorithms; }

std::vector<AllReduceRange> parse_all_reduce_spec(std::string_view spec) {
  const std::vector<SpecPart> parts = split_spec(spec);
  std::vector<AllReduceRange> ranges;
  std::int64_t limit = 0;
  for (const SpecPart& part : parts) {
    if (part.number % 2 == 1) {
      ranges.push_back(read_algorithm(spec, part));
    } else {
      limit = read_limit(spec, part, limit);
      ranges.back().limit = limit;
    }
  }
  if (parts.size() % 2 == 0) {
    throw UsageError(cat("--all_reduce_spec=", spec, ": ends with the limit '", parts.back().text,
                         "'; accepted is an algorithm for larger sizes behind it"));
  }
  return ranges;
}

void check_all_reduce_spec(std::string_view spec, int members) {
  const std::vector<SpecPart> parts = split_spec(spec);
  const std::vector<AllReduceRange> ranges = parse_all_reduce_spec(spec);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const SpecPart& part = parts[2 * i];
    const AllReduceRange& range = ranges[i];
    const std::string& name = range.algorithm;
    if (name.find('/') != std::string::npos) {
      refuse_part(
          spec, part,
          cat("one of ", describe_algorithms_of_one_host(), "; ", name, " is for several hosts"));
    }
    const bool for_all_sizes = name == "nccl" || name == "auto";
    if (for_all_sizes && ranges.size() > 1) {
      refuse_part(spec, part,
                  cat("one of ", describe_algorithms_of_one_host(), "; ", name,
                      " is for all sizes and stands alone"));
    }
    const bool splits = name == "xring" || name == "psgpu" || name == "collective";
    if (!splits && range.shards != 1) {
      refuse_part(
          spec, part,
          cat(name, " without shards",
              name == "pscpu" ? ", since a shard of pscpu is a host, and there is one" : ""));
    }
    if (range.shards > members) {
      refuse_part(spec, part,
                  cat(name, " with 1 to ", members, " shards, the number of devices that add"));
    }
  }
}

const AllReduceRange& range_for(std::span<const AllReduceRange> ranges, std::size_t bytes) {
  const auto found =
      std::find_if(ranges.begin(), ranges.end(), [bytes](const AllReduceRange& range) {
        return range.limit < 0 || bytes <= static_cast<std::uint64_t>(range.limit);
      });
  check(found != ranges.end(), "all-reduce spec: no range takes every size");
  return *found;
}

bool adds_by_nccl(std::span<const AllReduceRange> ranges) {
  return ranges.size() == 1 && ranges.front().algorithm == kAlgorithms.front();
}

std::string name_of(const AllReduceRange& range) {
  return range.shards == 1 ? range.algorithm : cat(range.algorithm, "#", range.shards);
}

}  // namespace bench

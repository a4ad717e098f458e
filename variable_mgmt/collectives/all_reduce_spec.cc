#include "variable_mgmt/collectives/all_reduce_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "models/base/errors.h"

namespace bench {
namespace {

enum class Scope : std::uint8_t {
  /// Usable in a range of sizes.
  one_host,
  /// Only for all sizes.
  all_sizes,
  several_processes,
  not_built,
};

/// An algorithm that --all_reduce_spec accepts.
struct AlgorithmRow {
  std::string_view name;
  Scope scope = Scope::one_host;
  bool shards = false;
};

constexpr std::string_view kNccl = "nccl";
constexpr std::string_view kMpi = "mpi";
/// The algorithms of tf_cnn_benchmarks come first.
constexpr std::array<AlgorithmRow, 14> kAlgorithms = {{
    {.name = kNccl, .scope = Scope::all_sizes},
    {.name = "nccl/xring", .scope = Scope::not_built},
    {.name = "nccl/rechd", .scope = Scope::not_built},
    {.name = "nccl/pscpu", .scope = Scope::not_built},
    {.name = "xring", .shards = true},
    {.name = "pscpu"},
    {.name = "psgpu", .shards = true},
    {.name = "pscpu/pscpu", .scope = Scope::not_built},
    {.name = "collective", .shards = true},
    {.name = "shm"},
    {.name = "rechd"},
    {.name = "tree"},
    {.name = kMpi, .scope = Scope::several_processes},
    {.name = "auto", .scope = Scope::all_sizes},
}};

const AlgorithmRow* find_algorithm(std::string_view name) {
  const auto* const found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                         [&](const AlgorithmRow& row) { return row.name == name; });
  return found == kAlgorithms.end() ? nullptr : found;
}

/// A part of the spec between colons, and its position, counted from 1.
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
  throw UsageError(fmt::format("--all_reduce_spec={}: part {} (character {}) is '{}'; accepted: {}",
                               spec, part.number, part.character, part.text, accepted));
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Lists the wanted rows: "a, b, c".
template <class Wanted>
std::string names_of(const Wanted& wanted) {
  std::string text;
  for (const AlgorithmRow& row : kAlgorithms) {
    if (wanted(row)) {
      text += text.empty() ? "" : ", ";
      text += row.name;
    }
  }
  return text;
}

/// Like describe_algorithms(), for a whole spec or for one of its ranges of sizes.
std::string describe_accepted(bool whole, const AllReduceOffer& offer) {
  return describe_algorithms(
      whole ? offer : AllReduceOffer{.nccl = false, .timed = false, .processes = offer.processes});
}

AllReduceRange read_algorithm(std::string_view spec, const SpecPart& part,
                              const AllReduceOffer& offer) {
  const std::size_t mark = std::min(part.text.find('#'), part.text.size());
  AllReduceRange range{.algorithm = std::string(part.text.substr(0, mark))};
  if (find_algorithm(range.algorithm) == nullptr) {
    const bool whole = spec.find(':') == std::string_view::npos;
    refuse_part(
        spec, part,
        fmt::format("one of {}", describe_accepted(whole, offer)) +
            (offer.processes
                 ? ""
                 : fmt::format("; append #N for N shards to {}",
                               names_of([](const AlgorithmRow& row) { return row.shards; }))));
  }
  if (mark < part.text.size() &&
      (!read_number(part.text.substr(mark + 1), range.shards) || range.shards < 1)) {
    refuse_part(spec, part,
                fmt::format("{}#N with a whole number of shards, at least 1", range.algorithm));
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
    refuse_part(spec, part, fmt::format("a size above the previous limit of {} bytes", least));
  }
  return number * unit;
}

}  // namespace

std::string describe_algorithms(const AllReduceOffer& offer) {
  return names_of([&](const AlgorithmRow& row) {
    switch (row.scope) {
      case Scope::one_host:
        return !offer.processes;
      case Scope::all_sizes:
        return row.name == kNccl ? offer.nccl : offer.timed && !offer.processes;
      case Scope::several_processes:
        return offer.processes;
      case Scope::not_built:
        break;
    }
    return false;
  });
}

std::vector<AllReduceRange> parse_all_reduce_spec(std::string_view spec,
                                                  const AllReduceOffer& offer) {
  const std::vector<SpecPart> parts = split_spec(spec);
  std::vector<AllReduceRange> ranges;
  std::int64_t limit = 0;
  for (const SpecPart& part : parts) {
    if (part.number % 2 == 1) {
      ranges.push_back(read_algorithm(spec, part, offer));
    } else {
      limit = read_limit(spec, part, limit);
      ranges.back().limit = limit;
    }
  }
  if (parts.size() % 2 == 0) {
    throw UsageError(
        fmt::format("--all_reduce_spec={}: ends with the limit '{}'; add an algorithm for larger "
                    "sizes after it",
                    spec, parts.back().text));
  }
  return ranges;
}

void check_all_reduce_spec(std::string_view spec, int members, const AllReduceOffer& offer) {
  const std::vector<SpecPart> parts = split_spec(spec);
  const std::vector<AllReduceRange> ranges = parse_all_reduce_spec(spec, offer);
  const std::string accepted = describe_accepted(ranges.size() == 1, offer);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const SpecPart& part = parts[2 * i];
    const AllReduceRange& range = ranges[i];
    const std::string& name = range.algorithm;
    const AlgorithmRow& row = *find_algorithm(name);
    if (row.scope == Scope::not_built) {
      refuse_part(spec, part, fmt::format("one of {}; {} is not supported yet", accepted, name));
    }
    if (offer.processes && row.scope == Scope::one_host) {
      refuse_part(spec, part, fmt::format("one of {}; {} adds within a process", accepted, name));
    }
    if (!offer.processes && row.scope == Scope::several_processes) {
      refuse_part(spec, part, fmt::format("one of {}; {} needs several processes", accepted, name));
    }
    if (row.scope != Scope::one_host && ranges.size() > 1) {
      refuse_part(
          spec, part,
          fmt::format("one of {}; {} covers all sizes and must be the only part", accepted, name));
    }
    if (!row.shards && range.shards != 1) {
      if (name == "pscpu") {
        refuse_part(spec, part,
                    "pscpu without shards, because its shards are hosts and there is only one");
      }
      refuse_part(spec, part, fmt::format("{} without shards", name));
    }
    if (range.shards > members) {
      refuse_part(spec, part,
                  fmt::format("{} with 1 to {} shards, at most one per device", name, members));
    }
  }
}

const AllReduceRange& range_for(std::span<const AllReduceRange> ranges, std::size_t bytes) {
  const auto found =
      std::find_if(ranges.begin(), ranges.end(), [bytes](const AllReduceRange& range) {
        return range.limit < 0 || bytes <= static_cast<std::uint64_t>(range.limit);
      });
  check(found != ranges.end(), "all-reduce spec: no range accepts this size");
  return *found;
}

bool adds_by_nccl(std::span<const AllReduceRange> ranges) {
  return ranges.size() == 1 && ranges.front().algorithm == kNccl;
}

bool adds_by_mpi(std::span<const AllReduceRange> ranges) {
  return ranges.size() == 1 && ranges.front().algorithm == kMpi;
}

std::string name_of(const AllReduceRange& range) {
  return range.shards == 1 ? range.algorithm : fmt::format("{}#{}", range.algorithm, range.shards);
}

}  // namespace bench

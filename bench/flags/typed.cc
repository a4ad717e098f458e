#include "bench/flags/typed.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <type_traits>

#include "models/base/errors.h"

// Registers the table's flags with gflags, through its ordinary macros.
#define BENCH_UNSET_bool false
#define BENCH_UNSET_int64 0
#define BENCH_UNSET_double 0.0
#define BENCH_UNSET_string ""
#define BENCH_FLAG(type, name, value, group, verdict, effect, accepted, support, help) \
  DEFINE_##type(name, value, help);
#define BENCH_FLAG_UNSET(type, name, group, verdict, effect, accepted, support, help) \
  DEFINE_##type(name, BENCH_UNSET_##type, help);
#define BENCH_FLAG_LIST(name, group, verdict, effect, accepted, support, help) \
  DEFINE_string(name, "", help);
#define BENCH_FLAG_SWITCH(name, ...)
#define BENCH_FLAG_PARSER(name, ...)
#include "bench/flags/table.inc"
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
#undef BENCH_FLAG_PARSER

// The switches have no members in Flags; gflags itself defines --help and --version.
DEFINE_bool(list_models, false, "");
DEFINE_bool(list_variables, false, "");

namespace bench {
namespace {

bool is_given(const std::vector<GivenFlag>& given, std::string_view name) {
  return std::any_of(given.begin(), given.end(),
                     [&](const GivenFlag& flag) { return flag.row->name == name; });
}

Flags read_flags(const std::vector<GivenFlag>& given) {
  Flags flags;
#define BENCH_FLAG(type, name, ...) flags.name = FLAGS_##name;
#define BENCH_FLAG_UNSET(type, name, ...) \
  if (is_given(given, #name)) {           \
    flags.name = FLAGS_##name;            \
  }
#define BENCH_FLAG_LIST(name, ...) flags.name = split_text(FLAGS_##name, ',');
#define BENCH_FLAG_SWITCH(name, ...)
#define BENCH_FLAG_PARSER(name, ...)
#include "bench/flags/table.inc"
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
#undef BENCH_FLAG_PARSER
  return flags;
}

TypedValue read_value(const FlagRow& row) {
  gflags::CommandLineFlagInfo info;
  check(gflags::GetCommandLineFlagInfo(std::string(row.name).c_str(), &info),
        "a flag of the table is not registered");
  return {.text = info.current_value,
          .is_default = row.default_text.has_value() && info.current_value == info.default_value};
}

}  // namespace

TypedFlags type_flags(const std::vector<GivenFlag>& given) {
  const gflags::FlagSaver restore_at_exit;
  TypedFlags typed;
  for (const GivenFlag& flag : given) {
    if (flag.row->for_parser) {
      typed.values.push_back({.text = flag.text, .is_default = false});
      continue;
    }
    const std::string name(flag.row->name);
    if (gflags::SetCommandLineOption(name.c_str(), flag.text.c_str()).empty()) {
      refuse_at(flag.origin,
                fmt::format("--{}={}: expected {}", name, flag.text, describe_accepted(*flag.row)));
    }
    typed.values.push_back(read_value(*flag.row));
  }
  typed.flags = read_flags(given);
  return typed;
}

}  // namespace bench

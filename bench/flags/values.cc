#include "bench/flags/flags.h"

namespace bench {
namespace {

template <class T>
results::FlagValue value_of(const T& value) {
  return value;
}

results::FlagValue value_of(const std::vector<std::string>& value) {
  std::string text;
  for (const std::string& element : value) {
    text += text.empty() ? "" : ",";
    text += element;
  }
  return text;
}

template <class T>
results::FlagValue value_of(const std::optional<T>& value) {
  return value ? results::FlagValue(*value) : results::FlagValue();
}

}  // namespace

std::vector<std::pair<std::string_view, results::FlagValue>> flag_values(const Flags& flags) {
  std::vector<std::pair<std::string_view, results::FlagValue>> values;
  // Add them one by one: a list of all of them at once would take many KiB of stack.
  const auto add = [&](std::string_view name, const auto& value) {
    values.emplace_back(name, value_of(value));
  };
#define BENCH_FLAG(type, name, ...) add(#name, flags.name);
#define BENCH_FLAG_UNSET(type, name, ...) add(#name, flags.name);
#define BENCH_FLAG_LIST(name, ...) add(#name, flags.name);
#define BENCH_FLAG_SWITCH(name, ...)
#define BENCH_FLAG_PARSER(name, ...)
#include "bench/flags/table.inc"
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
#undef BENCH_FLAG_PARSER
  return values;
}

}  // namespace bench

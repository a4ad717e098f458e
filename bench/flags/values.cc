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
  return {
#define BENCH_FLAG(type, name, ...) {#name, value_of(flags.name)},
#define BENCH_FLAG_UNSET(type, name, ...) {#name, value_of(flags.name)},
#define BENCH_FLAG_LIST(name, ...) {#name, value_of(flags.name)},
#define BENCH_FLAG_SWITCH(name, ...)
#define BENCH_FLAG_PARSER(name, ...)
#include "bench/flags/table.inc"
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
#undef BENCH_FLAG_PARSER
  };
}

}  // namespace bench

#include <charconv>

#include "bench/flags.h"

namespace bench {
namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::vector<std::string>& value) {
  std::string text;
  for (const std::string& element : value) {
    text += text.empty() ? "" : ",";
    text += element;
  }
  return text;
}

template <class T>
std::optional<std::string> text_of(const std::optional<T>& value) {
  return value ? std::optional(text_of(*value)) : std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string_view, std::optional<std::string>>> flag_values(
    const Flags& flags) {
  return {
#define BENCH_FLAG(type, name, ...) {#name, text_of(flags.name)},
#define BENCH_FLAG_UNSET(type, name, ...) {#name, text_of(flags.name)},
#define BENCH_FLAG_LIST(name, ...) {#name, text_of(flags.name)},
#define BENCH_FLAG_SWITCH(name, ...)
#include "bench/flags/table.inc"
#undef BENCH_FLAG
#undef BENCH_FLAG_UNSET
#undef BENCH_FLAG_LIST
#undef BENCH_FLAG_SWITCH
  };
}

}  // namespace bench

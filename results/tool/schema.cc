#include <array>
#include <ostream>

#include "results/record/record_schema.h"
#include "results/tool/commands.h"

namespace bench::results {
namespace {

constexpr std::array kSchemaOptions = {
    Option{.name = "format",
           .value = "FORM",
           .fallback = "json",
           .accepted = "json md",
           .meaning = "json: JSON Schema; md: the page RECORD.md"},
};

}  // namespace

std::span<const Option> options_of_schema() { return kSchemaOptions; }

int run_schema(const Arguments& arguments, Streams streams) {
  arguments.refuse_operands();
  streams.out << (arguments.text("format") == "md" ? record_page() : record_schema());
  return 0;
}

}  // namespace bench::results

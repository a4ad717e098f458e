#include "results/record/writer.h"

#include <array>
#include <string>

#include "models/base/errors.h"
#include "results/record/json_writer.h"

namespace bench::results {
namespace {

constexpr std::array kWriters = {
    WriterRow{.name = "json", .make = make_json_writer},
};

}  // namespace

std::span<const WriterRow> writer_rows() { return kWriters; }

std::unique_ptr<RecordWriter> make_writer(std::string_view name,
                                          const std::filesystem::path& path) {
  std::string known;
  for (const WriterRow& row : kWriters) {
    if (row.name == name) return row.make(path);
    if (!known.empty()) known += ", ";
    known += row.name;
  }
  throw UsageError(fmt::format("unknown result writer '{}'; accepted: {}", name, known));
}

}  // namespace bench::results

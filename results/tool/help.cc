#include "results/tool/help.h"

#include <iomanip>
#include <string>

#include "results/store/schema.h"

namespace bench::results {
namespace {

constexpr const char* kSelectors =
    "A SELECTOR selects runs:\n"
    "  run.json, folder/     a record file, or all records of a folder\n"
    "  4f2a91c03be7d865      a run or a group of runs in the store, by the start of its id\n"
    "  @name                 a baseline\n"
    "  'model:resnet50 since:30d tag.site:ams'\n"
    "                        a filter over the store; bench_results list --help explains it\n"
    "A filter of several terms needs quotes around all of it.\n";

constexpr const char* kUnion = "Several SELECTORs select the runs that match any of them.\n";

constexpr const char* kSides =
    "BASE is a SELECTOR, and so is each NEW. With --run, both are commands.\n";

constexpr const char* kStatuses =
    "Exit status: 0 success, 1 a regression, or a problem that doctor found, 2 a wrong command\n"
    "line, 3 no such runs, or records that cannot be read or compared, 4 (with --strict) an\n"
    "undecided row or a workload without a new run, 70 an internal error, 74 a failed write.\n";

constexpr const char* kFilterHelp =
    "A FILTER consists of terms separated by spaces. A run must match all of them:\n"
    "  model:resnet50,vgg16 gpu:/H100/ batch:>=32 since:30d tag.site:ams -status:failed\n"
    "A term is key:value. A value is a word (* matches anything), a \"quoted text\", a /regular\n"
    "expression/, or a number after <, <=, > or >=. Words and quoted texts match in any case.\n"
    "Commas separate alternatives. A - before a key negates the term. A time is 30d, 12h, 45m,\n"
    "2w, 2026-01-31 (the whole day) or 2026-01-31T23:59 (UTC).\n"
    "Keys:\n";

void print_filter_help(std::ostream& out) {
  out << "\n" << kFilterHelp;
  constexpr int kKeyWidth = 16;
  const auto row = [&](std::string_view key, std::string_view text) {
    out << "  " << std::left << std::setw(kKeyWidth) << key << text << "\n";
  };
  for (const StoredColumn& column : stored_columns()) row(column.name, column.meaning);
  row("tag.NAME", "a tag of the run");
  row("metric.NAME", "a metric of the run");
  row("since, until", "runs that started at this time or later, or at this time or earlier");
}

}  // namespace

void print_help(std::ostream& out) {
  out << "usage: bench_results COMMAND ...\n\n";
  for (const Command& command : commands()) {
    out << "  " << std::left << std::setw(10) << command.name << command.summary << "\n";
  }
  out << "\nbench_results COMMAND --help shows a command's options.\n\n"
      << kSelectors << kUnion << "\n"
      << kStatuses;
}

void print_help(std::ostream& out, const Command& command) {
  out << "usage: bench_results " << command.name
      << (command.options().empty() ? "" : " [OPTION...]") << (command.operands.empty() ? "" : " ")
      << command.operands << "\n\n"
      << command.summary << "\n\n";
  print_options(out, command.options());
  if (command.operands.find("SELECTOR") != std::string_view::npos) {
    out << "\n" << kSelectors << kUnion;
  }
  if (command.operands.starts_with("BASE NEW")) {
    out << "\n" << kSelectors << kSides;
  }
  if (command.operands.find("FILTER") != std::string_view::npos) {
    print_filter_help(out);
  }
}

}  // namespace bench::results

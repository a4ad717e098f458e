#include "bench/help.h"

#include <string>

#include "bench/flags_table.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kHelpColumn = 38;

constexpr std::string_view kHead =
    R"(bench: how many images per second a machine trains or infers with convolutional networks.

Usage: bench [--flag=value]...

A flag is written --flag=value or --flag value; a boolean --flag, --noflag or --flag=true|false.
)";

constexpr std::string_view kExamples = R"(
Examples

  Train ResNet-50 on synthetic images on the CPU:
    bench --model=resnet50 --device=cpu --batch_size=32

  Train on ImageNet's TFRecords for a minute and keep the record:
    bench --model=resnet50_v1.5 --optimizer=momentum --data_dir=imagenet --max_seconds=60 \
        --result_file=run.json
)";

std::string placeholder(const FlagRow& row) {
  switch (row.type) {
    case FlagType::kBool:
      return "";
    case FlagType::kInt64:
      return "=INT";
    case FlagType::kDouble:
      return "=NUM";
    case FlagType::kString:
      return row.accepted.values.empty() ? "=TEXT" : "=NAME";
    case FlagType::kList:
      return "=LIST";
  }
  return "";
}

// What follows from the flag in this version, or nothing where all of it works.
std::string state_of(const FlagRow& row) {
  const FlagSupport& support = row.support;
  if (support.extent == FlagSupport::Extent::kListed && support.not_applicable.empty()) {
    return cat("built: ", join(split_words(support.listed)));
  }
  if (support.extent != FlagSupport::Extent::kAll) {
    return refusal_of(support);
  }
  return notice_of(support);
}

std::string value_of(const FlagRow& row) {
  std::string text =
      row.accepted.values.empty() ? describe_bounds(row.accepted) : describe_accepted(row);
  // Our own flags with a default are switches, whose default goes without saying.
  if (row.default_text && row.group != FlagGroup::kOwn) {
    text += cat(text.empty() ? "" : "; ", "default ",
                row.default_text->empty() ? "empty" : *row.default_text);
  }
  return text;
}

std::string explanation(const FlagRow& row) {
  std::string text(row.help);
  if (const std::string value = value_of(row); !value.empty()) {
    text += cat(" (", value, ")");
  }
  if (const std::string state = state_of(row); !state.empty()) {
    text += cat(" [", state, "]");
  }
  return text;
}

void print_flag(std::ostream& out, const FlagRow& row) {
  std::string line = cat("  --", row.name, placeholder(row));
  if (line.size() + 2 > kHelpColumn) {
    out << line << '\n';
    line.clear();
  }
  line.resize(kHelpColumn, ' ');
  bool at_start = true;
  const std::string text = explanation(row);
  for (const std::string_view word : split_words(text)) {
    if (!at_start && line.size() + 1 + word.size() > kColumns) {
      out << line << '\n';
      line.assign(kHelpColumn, ' ');
      at_start = true;
    }
    line += cat(at_start ? "" : " ", word);
    at_start = false;
  }
  out << line << '\n';
}

}  // namespace

void print_help(std::ostream& out) {
  out << kHead;
  const FlagRow* before = nullptr;
  for (const FlagRow& row : flag_table()) {
    if (before == nullptr || before->group != row.group) {
      out << '\n' << title_of(row.group) << "\n\n";
    }
    print_flag(out, row);
    before = &row;
  }
  out << kExamples;
}

}  // namespace bench

#include "bench/flags/help.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bench/flags/file.h"
#include "bench/flags/hints.h"
#include "bench/flags/near.h"
#include "bench/flags/table.h"
#include "models/base/errors.h"
#include "models/base/near_names.h"
#include "models/base/text.h"

namespace bench {
namespace {

constexpr std::size_t kColumns = 79;
constexpr std::size_t kHelpColumn = 32;
constexpr std::size_t kShortColumn = 28;

constexpr std::array kMostUsed = {
    MostUsedFlag{"model", "the network; --list_models shows all"},
    MostUsedFlag{"batch_size", "examples per device, list, auto, max", "the model's"},
    MostUsedFlag{"num_batches", "steps to measure", "100"},
    MostUsedFlag{"num_warmup_batches", "steps before measuring", "10"},
    MostUsedFlag{"max_seconds", "end the run after N seconds", "no limit"},
    MostUsedFlag{"forward_only", "measure inference instead of training"},
    MostUsedFlag{"device", "gpu, cpu, or slow reference", "a GPU, else cpu"},
    MostUsedFlag{"num_gpus", "devices to run on; CPU devices divide the cores"},
    MostUsedFlag{"num_intra_threads", "threads", "one per core"},
    MostUsedFlag{"data_format", "layout: NCHW, NHWC or auto", "auto; NHWC on a GPU"},
    MostUsedFlag{"dtype", "f32, bf16, f16, f64; int8 with --forward_only"},
    MostUsedFlag{"use_fp16", "compute in f16, or in bf16 if that is faster"},
    MostUsedFlag{"data_dir", "folder with a dataset's files", "synthetic data"},
    MostUsedFlag{"optimizer"},
    MostUsedFlag{"init_learning_rate", "learning rate", "the model's default"},
    MostUsedFlag{"display_every", "print a line every N steps"},
    MostUsedFlag{"profile", "print the time of each kernel"},
    MostUsedFlag{"result_file", "write the record, with all step times", "none"},
    MostUsedFlag{"store", "save the record for bench_results", "none"},
    MostUsedFlag{"verify", "only check the network against a stored reference"},
};

constexpr std::string_view kHead =
    "bench: speed of convolutional and other networks, in training or inference.\n";

constexpr std::string_view kExamples = R"(
  bench --model=resnet50 --result_file=run.json     # train on synthetic images
  bench --model=vgg16 --forward_only --dtype=int8   # infer in 8 bits
  bench --model=resnet50 --data_dir=/data/imagenet  # train on TFRecords
)";

constexpr std::string_view kHowFlagsAreWritten =
    "Write a flag as --flag=value or --flag value. Write a boolean as --flag,\n"
    "--noflag or --flag=true|false. --flagfile=FILE reads flags from a file.\n";

std::string placeholder(const FlagRow& row) {
  switch (row.type) {
    case FlagType::kBool:
      return "";
    case FlagType::kInt64:
      return "=INT";
    case FlagType::kDouble:
      return "=NUM";
    case FlagType::kString: {
      const std::string text = row.accepted.values.empty() ? "=TEXT" : "=NAME";
      return row.accepted.bare.empty() ? text : fmt::format("[{}]", text);
    }
    case FlagType::kList:
      return "=LIST";
  }
  return "";
}

// The effect of the flag's support in this version; empty if the flag is fully supported.
std::string state_of(const FlagRow& row) {
  const FlagSupport& support = row.support;
  if (support.refuses()) {
    return refusal_of(support);
  }
  return notice_of(support);
}

// The default as text; empty if the flag's help explains it.
std::string default_of(const FlagRow& row) {
  if (row.default_text) {
    return row.default_text->empty() ? "default empty"
                                     : fmt::format("default {}", *row.default_text);
  }
  return row.help.find("unset: ") == std::string_view::npos ? "unset by default" : "";
}

std::string value_of(const FlagRow& row) {
  const bool has_words = !row.accepted.words.empty() || !row.accepted.values.empty();
  std::string text = has_words ? describe_accepted(row) : describe_bounds(row.accepted);
  std::vector<std::string_view> words;
  for (const Synonym& synonym : synonyms_of(row.accepted)) {
    words.push_back(synonym.word);
  }
  if (!words.empty()) {
    text += fmt::format("; also {}", join(words));
  }
  if (const std::string without = default_of(row); !without.empty()) {
    text += text.empty() ? without : fmt::format("; {}", without);
  }
  return text;
}

std::string explanation(const FlagRow& row) {
  std::string text(row.help);
  if (const std::string value = value_of(row); !value.empty()) {
    text += fmt::format(" ({})", value);
  }
  if (const std::string state = state_of(row); !state.empty()) {
    text += fmt::format(" [{}]", state);
  }
  return text;
}

void print_flag(std::ostream& out, const FlagRow& row) {
  std::string line = fmt::format("  --{}{}", row.name, placeholder(row));
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
    line += at_start ? "" : " ";
    line += word;
    at_start = false;
  }
  out << line << '\n';
}

void print_group(std::ostream& out, FlagGroup group) {
  out << title_of(group) << " (--help=" << word_of(group) << ")\n\n";
  for (const bool working : {true, false}) {
    for (const FlagRow& row : flag_table()) {
      if (row.group == group && works(row) == working) {
        print_flag(out, row);
      }
    }
  }
}

void print_all(std::ostream& out) {
  out << kHead << '\n' << kHowFlagsAreWritten;
  for (const FlagGroup group : flag_groups()) {
    out << '\n';
    print_group(out, group);
  }
}

// The flags that `topic` most likely means: those that other programs name so, else those with
// similar names.
std::vector<const FlagRow*> flags_asked_for(std::string_view topic) {
  std::vector<std::string_view> names;
  for (const std::string_view flag : flags_meant_by(topic)) {
    const std::string_view name = without_dashes(flag);
    names.push_back(name.substr(0, name.find('=')));
  }
  if (names.empty()) {
    for (const FlagRow& row : flag_table()) {
      names.push_back(row.name);
    }
    names = near_names(topic, names);
  }
  std::vector<const FlagRow*> rows;
  for (const std::string_view name : names) {
    rows.push_back(find_flag(name));
  }
  return rows;
}

std::vector<std::string_view> group_words() {
  std::vector<std::string_view> words;
  for (const FlagGroup group : flag_groups()) {
    words.push_back(word_of(group));
  }
  return words;
}

void print_most_used(std::ostream& out) {
  out << kHead << kExamples << "\nThe most-used flags, with their defaults:\n";
  for (const MostUsedFlag& flag : kMostUsed) {
    const FlagRow& row = *find_flag(flag.name);
    std::string line = fmt::format("  --{}{}", flag.name, placeholder(row));
    line.resize(std::max(line.size() + 1, kShortColumn), ' ');
    out << line << (flag.meaning.empty() ? describe_values(row) : std::string(flag.meaning));
    if (const std::string_view without =
            flag.otherwise.empty() ? row.default_text.value_or("") : flag.otherwise;
        !without.empty() && without != "false") {
      out << " (" << without << ")";
    }
    out << '\n';
  }
  out << "\nAll flags: --help=all. One: --help=FLAG. A group: --help=GROUP, where GROUP is\n"
      << join(group_words()) << ".\n";
}

}  // namespace

std::span<const MostUsedFlag> most_used_flags() { return kMostUsed; }

void print_help(std::ostream& out, std::string_view asked) {
  std::string topic(without_dashes(asked));
  std::replace(topic.begin(), topic.end(), '-', '_');
  if (equal_in_any_case(topic, find_flag("help")->accepted.bare)) {
    return print_most_used(out);
  }
  if (equal_in_any_case(topic, "all")) {
    return print_all(out);
  }
  for (const FlagGroup group : flag_groups()) {
    if (equal_in_any_case(topic, word_of(group))) {
      return print_group(out, group);
    }
  }
  for (const FlagRow& row : flag_table()) {
    if (equal_in_any_case(topic, row.name)) {
      return print_flag(out, row);
    }
  }
  if (const std::string_view why = why_no_flag(topic); !why.empty()) {
    out << fmt::format("bench has no flag --{}; {}.\n", topic, why);
    return;
  }
  const std::vector<const FlagRow*> rows = flags_asked_for(topic);
  if (rows.empty()) {
    throw UsageError(fmt::format("--help={}: expected all, a flag's name, or a group: {}", asked,
                                 join(group_words())));
  }
  for (const FlagRow* row : rows) {
    print_flag(out, *row);
  }
}

}  // namespace bench

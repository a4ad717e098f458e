#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/base/text.h"
#include "pipeline/datasets/dataset.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

constexpr std::string_view kEndOfLine = "<eos>";
constexpr std::string_view kUnknown = "<unk>";

std::string text_path(const DatasetOptions& options, bool training) {
  return (std::filesystem::path(options.data_dir) / (training ? "ptb.train.txt" : "ptb.valid.txt"))
      .string();
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    throw DataError(fmt::format("{}: the file cannot be read", printable(path)));
  }
  return text;
}

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

/// Calls `use` with each word and its line, from 1. Words have spaces around them; the end of a
/// line is a word, too.
template <class Use>
void for_each_word(std::string_view text, const Use& use) {
  std::int64_t line = 1;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      if (text[i] == '\n') {
        use(kEndOfLine, line++);
      }
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && !is_space(text[i])) {
      ++i;
    }
    use(text.substr(begin, i - begin), line);
  }
}

using Vocabulary = std::unordered_map<std::string_view, std::int32_t>;

/// Numbers the words from the most to the least frequent; equally frequent ones alphabetically.
Vocabulary count_words(std::string_view text) {
  std::unordered_map<std::string_view, std::int64_t> counts;
  for_each_word(text, [&](std::string_view word, std::int64_t /*line*/) { ++counts[word]; });
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const auto& [word, count] : counts) {
    order.emplace_back(-count, word);
  }
  std::ranges::sort(order);
  Vocabulary numbers;
  for (const auto& [count, word] : order) {
    numbers.emplace(word, static_cast<std::int32_t>(numbers.size()));
  }
  return numbers;
}

std::vector<std::int32_t> numbers_of(std::string_view text, const Vocabulary& vocabulary,
                                     const std::string& path) {
  const auto unknown = vocabulary.find(kUnknown);
  std::vector<std::int32_t> numbers;
  for_each_word(text, [&](std::string_view word, std::int64_t line) {
    auto found = vocabulary.find(word);
    found = found == vocabulary.end() ? unknown : found;
    if (found == vocabulary.end()) {
      throw DataError(
          fmt::format("{}, line {}: '{}' is not in ptb.train.txt; replace rare words there with {}",
                      printable(path), line, printable(word), kUnknown));
    }
    numbers.push_back(found->second);
  });
  return numbers;
}

/// The words of the subset. Throws UsageError if there are more different ones than classes.
std::vector<std::int32_t> read_words(const DatasetOptions& options, std::int64_t num_classes) {
  const std::string path = text_path(options, /*training=*/true);
  const std::string training = read_text(path);
  const Vocabulary vocabulary = count_words(training);
  if (std::ssize(vocabulary) > num_classes) {
    throw UsageError(
        fmt::format("{}: the text has {} different words, but the network has {} classes; "
                    "give --num_classes={}",
                    printable(path), vocabulary.size(), num_classes, vocabulary.size()));
  }
  if (options.training) {
    return numbers_of(training, vocabulary, path);
  }
  const std::string validation = text_path(options, /*training=*/false);
  return numbers_of(read_text(validation), vocabulary, validation);
}

/// Cuts the text into sequences of the spec's length, of which each is to predict the word after
/// each of its words. Training takes them in a random order in each epoch.
class TextInput final : public InputSource {
 public:
  TextInput(const InputSpec& spec, const DatasetOptions& options,
            const std::shared_ptr<HostAllocator>& allocator)
      : spec_(spec),
        training_(options.training),
        words_(read_words(options, spec.num_classes)),
        steps_(static_cast<std::size_t>(spec.numbers[0].shape.elements())),
        tokens_(allocator, static_cast<std::size_t>(spec.batch) * steps_),
        labels_(allocator, static_cast<std::size_t>(spec.batch) * steps_),
        epochs_(static_cast<std::size_t>(spec.batch)),
        order_((words_.size() - std::min<std::size_t>(words_.size(), 1)) / steps_),
        numbers_{
            {.input = spec_.numbers[0].name, .values = tokens_.data(), .per_example = steps_},
            {.input = spec_.numbers[1].name, .values = labels_.data(), .per_example = steps_}} {
    const std::string path = text_path(options, training_);
    if (order_.empty()) {
      throw DataError(fmt::format("{}: the text has {} words, but a sequence needs {}",
                                  printable(path), words_.size(), steps_ + 1));
    }
    next_ = spec.start.epoch * sequences() + spec.start.index;
    statistics_.shards = 1;
    statistics_.shard_bytes = std::filesystem::file_size(path);
    statistics_.records = sequences();
  }

  InputBatch next() override {
    const std::int64_t begin = next_ + spec_.first_image;
    for (std::int64_t row = 0; row < spec_.batch; ++row) {
      fill(begin + row, static_cast<std::size_t>(row));
    }
    next_ += spec_.images_of_all();
    statistics_.images_prepared += spec_.batch;
    statistics_.images_delivered += spec_.batch;
    statistics_.epoch = epochs_.back();
    return {.numbers = numbers_,
            .epoch = epochs_.back(),
            .epochs = epochs_.data(),
            .following = {.epoch = next_ / sequences(), .index = next_ % sequences()}};
  }

  [[nodiscard]] InputStatistics statistics() const override { return statistics_; }

 private:
  [[nodiscard]] std::int64_t sequences() const { return std::ssize(order_); }

  void fill(std::int64_t sequence, std::size_t row) {
    const std::int64_t epoch = sequence / sequences();
    if (epoch != ordered_) {
      order_epoch(epoch);
    }
    const std::size_t first = order_[static_cast<std::size_t>(sequence % sequences())] * steps_;
    std::copy_n(&words_[first], steps_, tokens_.data() + row * steps_);
    std::copy_n(&words_[first + 1], steps_, labels_.data() + row * steps_);
    epochs_[row] = epoch;
  }

  void order_epoch(std::int64_t epoch) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    ordered_ = epoch;
    if (!training_) {
      return;
    }
    RandomStream random(spec_.seed ^ hash_name("order of sequences"),
                        static_cast<std::uint64_t>(epoch));
    shuffle(order_, random);
  }

  InputSpec spec_;
  bool training_;
  std::vector<std::int32_t> words_;
  /// The words of a sequence.
  std::size_t steps_;
  HostArray<std::int32_t> tokens_;
  HostArray<std::int32_t> labels_;
  std::vector<std::int64_t> epochs_;
  /// The sequences of the epoch `ordered_`.
  std::vector<std::size_t> order_;
  std::int64_t ordered_ = -1;
  std::vector<BatchNumbers> numbers_;
  /// The number of the next batch's first sequence, counted over all epochs and processes.
  std::int64_t next_ = 0;
  InputStatistics statistics_;
};

}  // namespace

std::vector<std::string> list_ptb_files(const DatasetOptions& options) {
  std::vector<std::string> paths{text_path(options, /*training=*/true)};
  if (!options.training) {
    paths.push_back(text_path(options, /*training=*/false));
  }
  return paths;
}

void check_ptb_files(const DatasetOptions& options) {
  require_folder(options.data_dir, "ptb.train.txt and ptb.valid.txt");
  for (const std::string& path : list_ptb_files(options)) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) {
      throw UsageError(fmt::format("--data_dir={}: the folder has no file {}", options.data_dir,
                                   std::filesystem::path(path).filename().string()));
    }
  }
}

/// A word and the space after it are rarely shorter than its number.
std::size_t ptb_record_memory(const DatasetOptions& options, bool /*several_processes*/) {
  std::error_code failed;
  const std::uintmax_t bytes =
      std::filesystem::file_size(text_path(options, options.training), failed);
  return failed ? 0 : bytes;
}

std::unique_ptr<InputSource> make_ptb_input(const InputSpec& spec, const DatasetOptions& options,
                                            std::shared_ptr<HostAllocator> allocator) {
  check_ptb_files(options);
  check(spec.numbers.size() == 2 && spec.numbers[0].dtype == DType::s32 &&
            spec.numbers[1].dtype == DType::s32 && spec.numbers[0].shape == spec.numbers[1].shape,
        "ptb has the words of a sequence, and the words after them");
  return std::make_unique<TextInput>(
      spec, options, allocator != nullptr ? std::move(allocator) : make_host_allocator());
}

}  // namespace bench

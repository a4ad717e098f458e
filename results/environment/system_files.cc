#include "results/environment/system_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

}  // namespace

SystemFiles::SystemFiles(std::filesystem::path root) : root_(std::move(root)) {}

std::filesystem::path SystemFiles::real(std::string_view path) const {
  return root_ / std::filesystem::path(path).relative_path();
}

Captured<std::string> SystemFiles::read(std::string_view path) const {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(real(path).c_str(), "re"));
  if (!file) return Unknown{fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get())) {
    text.append(part.data(), count);
  }
  if (std::ferror(file.get()) != 0) {
    return Unknown{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  }
  text.erase(text.find_last_not_of(kWhiteSpace) + 1);
  return text;
}

Captured<std::int64_t> SystemFiles::read_integer(std::string_view path) const {
  const Captured<std::string> text = read(path);
  if (!text.known()) return Unknown{text.why()};
  const std::vector<std::string> words = words_of(text.value());
  const Captured<std::int64_t> number = parse_integer(words.empty() ? "" : words.front());
  if (!number.known()) return Unknown{fmt::format("{}: {}", path, number.why())};
  return number;
}

Captured<std::vector<std::string>> SystemFiles::names_in(std::string_view path) const {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entries(real(path), error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error) return Unknown{fmt::format("cannot read {}: {}", path, error.message())};
  std::sort(names.begin(), names.end());
  return names;
}

bool SystemFiles::exists(std::string_view path) const {
  std::error_code error;
  return std::filesystem::exists(real(path), error);
}

bool SystemFiles::is_folder(std::string_view path) const {
  std::error_code error;
  return std::filesystem::is_directory(real(path), error);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

Captured<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Unknown{fmt::format("'{}' is not a number", text)};
  }
  return value;
}

Captured<std::vector<int>> parse_processor_list(std::string_view text) {
  constexpr std::int64_t kMostProcessors = 1 << 20;
  std::vector<int> out;
  std::istringstream stream{std::string(trimmed(text))};
  for (std::string part; std::getline(stream, part, ',');) {
    const std::size_t dash = part.find('-');
    const Captured<std::int64_t> first = parse_integer(part.substr(0, dash));
    const Captured<std::int64_t> last =
        dash == part.npos ? first : parse_integer(part.substr(dash + 1));
    if (!first.known() || !last.known() || first.value() < 0 || last.value() < first.value() ||
        last.value() >= kMostProcessors) {
      return Unknown{fmt::format("'{}' is not a list of processors", text)};
    }
    for (std::int64_t i = first.value(); i <= last.value(); ++i) out.push_back(static_cast<int>(i));
  }
  return out;
}

Captured<std::string> field_of(std::string_view text, std::string_view name) {
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos || trimmed(std::string_view(line).substr(0, colon)) != name) continue;
    return std::string(trimmed(std::string_view(line).substr(colon + 1)));
  }
  return Unknown{fmt::format("the kernel does not report '{}'", name)};
}

}  // namespace bench

#include "bench/flags/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::string_view kFlag = "flagfile";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  const std::size_t begin = line.find_first_not_of(kBlanks);
  return begin == std::string_view::npos
             ? std::string_view()
             : line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
}

std::filesystem::path path_of(std::string_view name) {
  const char* home = std::getenv("HOME");
  if (name.starts_with("~/") && home != nullptr) {
    return std::filesystem::path(home) / name.substr(2);
  }
  return name;
}

[[noreturn]] void refuse_file(const std::string& name, const std::string& origin,
                              std::string_view why) {
  refuse_at(origin, fmt::format("--{}={}: {}", kFlag, name, why));
}

/// Replaces the arguments that name files by the lines of those files.
class Expansion {
 public:
  void add(std::vector<Argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      Argument& argument = arguments[i];
      if (argument.text == "--") {
        std::move(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end(),
                  std::back_inserter(out_));
        return;
      }
      const bool is_flag = argument.text.starts_with("-");
      const std::string_view body = without_dashes(argument.text);
      if (is_flag && body.starts_with(fmt::format("{}=", kFlag))) {
        include(std::string(body.substr(kFlag.size() + 1)), argument.origin);
      } else if (is_flag && body == kFlag) {
        if (i + 1 == arguments.size() || arguments[i + 1].text.starts_with("--")) {
          refuse_at(argument.origin,
                    fmt::format("--{} needs a value: a file with one flag per line", kFlag));
        }
        include(arguments[++i].text, argument.origin);
      } else {
        out_.push_back(std::move(argument));
      }
    }
  }

  ExpandedArguments take() { return {.arguments = std::move(out_), .files = std::move(files_)}; }

 private:
  void include(const std::string& name, const std::string& origin) {
    std::error_code error;
    const std::filesystem::path path = path_of(name);
    const std::filesystem::path file = std::filesystem::weakly_canonical(path, error);
    if (std::find(open_.begin(), open_.end(), file) != open_.end()) {
      refuse_file(name, origin, "the file includes itself");
    }
    open_.push_back(file);
    files_.push_back(path);
    add(lines_of(read(path, name, origin), name));
    open_.pop_back();
  }

  static std::string read(const std::filesystem::path& path, const std::string& name,
                          const std::string& origin) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      refuse_file(name, origin, "this is a folder, not a file");
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      refuse_file(name, origin, fmt::format("cannot read the file: {}", std::strerror(errno)));
    }
    std::string text(kMostBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad()) {
      refuse_file(name, origin, fmt::format("cannot read the file: {}", std::strerror(errno)));
    }
    if (text.size() > kMostBytes) {
      refuse_file(name, origin, "the file is larger than 1 MiB");
    }
    return text;
  }

  static std::vector<Argument> lines_of(std::string_view text, const std::string& name) {
    std::vector<Argument> lines;
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty() || line.starts_with("#") || line.starts_with("//")) {
        continue;
      }
      const std::string origin = fmt::format("{}, line {}", name, number);
      const std::string_view flag = line.substr(0, line.find('='));
      if (!flag.starts_with("-") || flag.find_first_of(" \t") != std::string_view::npos) {
        refuse_at(origin, fmt::format("'{}' is not a flag; write each line as --name=value", line));
      }
      lines.push_back({.text = std::string(line), .origin = origin});
    }
    return lines;
  }

  std::vector<Argument> out_;
  std::vector<std::string> files_;
  std::vector<std::filesystem::path> open_;  ///< The files that are being read, outermost first.
};

}  // namespace

std::string_view without_dashes(std::string_view argument) {
  argument.remove_prefix(argument.starts_with("--") ? 2 : argument.starts_with("-") ? 1 : 0);
  return argument;
}

void refuse_at(const std::string& origin, std::string_view message) {
  throw UsageError(origin.empty() ? std::string(message) : fmt::format("{}: {}", origin, message));
}

ExpandedArguments expand_flag_files(std::span<const std::string_view> arguments) {
  std::vector<Argument> given;
  for (const std::string_view argument : arguments) {
    given.push_back({.text = std::string(argument)});
  }
  Expansion expansion;
  expansion.add(std::move(given));
  return expansion.take();
}

}  // namespace bench

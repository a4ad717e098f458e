#include "bench/plan/tuning_cache.h"

#include <fstream>
#include <sstream>

#include "bench/plan/choices_file.h"
#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/record/identity.h"

namespace bench {
namespace {

/// More digits than any number of files needs to differ.
constexpr std::size_t kNameDigits = 16;

}  // namespace

std::map<std::string, std::string> TuningKey::all() const {
  std::map<std::string, std::string> all = subject;
  all.insert(versions.begin(), versions.end());
  return all;
}

std::string TuningKey::difference(const std::map<std::string, std::string>& then) const {
  const auto now = all();
  for (const auto& [name, value] : now) {
    const auto old = then.find(name);
    if (old == then.end()) {
      return fmt::format("was made for an unknown {}, which is now {}", name, printable(value));
    }
    if (old->second != value && name == "graph") {
      return "was made for another graph";
    }
    if (old->second != value) {
      return fmt::format("was made for {}={}, which is now {}", name, printable(old->second),
                         printable(value));
    }
  }
  return now.size() == then.size() ? "" : "was made for additional versions";
}

std::optional<std::filesystem::path> tuning_folder(
    const std::function<std::string(const std::string& variable)>& environment) {
  const std::filesystem::path tuning = "tuning";
  if (const std::string own = environment("BENCH_CACHE_DIR"); !own.empty()) {
    return own / tuning;
  }
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) {
    return std::filesystem::path(caches) / "bench" / tuning;
  }
  if (const std::string home = environment("HOME"); !home.empty()) {
    return std::filesystem::path(home) / ".cache" / "bench" / tuning;
  }
  return std::nullopt;
}

std::optional<std::filesystem::path> TuningCache::file(const TuningKey& key) const {
  if (!folder_) {
    return std::nullopt;
  }
  std::string text;
  for (const auto& [name, value] : key.subject) {
    text += fmt::format("{}={}\n", name, value);
  }
  return *folder_ / fmt::format("{}.json", results::sha256_hex(text).substr(0, kNameDigits));
}

TuningCache::Found TuningCache::find(const TuningKey& key) const {
  const auto path = file(key);
  std::error_code error;
  if (!path || !std::filesystem::exists(*path, error)) {
    return {};
  }
  const auto refused = [&](const std::string& why) {
    return Found{.why_not = fmt::format("{} {}", printable(path->string()), why)};
  };
  if (!std::filesystem::is_regular_file(*path, error)) {
    return refused("is not a regular file");
  }
  std::ostringstream text;
  text << std::ifstream(*path).rdbuf();
  std::optional<ChoicesFile> kept = parse_choices(text.str());
  if (!kept) {
    return refused("does not contain choices");
  }
  if (const std::string other = key.difference(kept->made_for); !other.empty()) {
    return refused(other);
  }
  return {.choices = std::move(kept->choices)};
}

std::string TuningCache::keep(const TuningKey& key, const Choices& choices) const {
  const auto path = file(key);
  if (!path) {
    return "BENCH_CACHE_DIR, XDG_CACHE_HOME and HOME are not set";
  }
  std::error_code error;
  std::filesystem::create_directories(*folder_, error);
  if (error) {
    return fmt::format("{}: {}", printable(folder_->string()), error.message());
  }
  try {
    AtomicFile(*path, "file of timed choices")
        .write(to_text({.choices = choices, .made_for = key.all()}));
  } catch (const UsageError& refusal) {
    return refusal.what();
  } catch (const WriteError& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace bench

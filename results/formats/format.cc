#include "results/formats/format.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "results/formats/rows.h"
#include "results/store/record_fields.h"
#include "results/store/record_files.h"
#include "results/store/workload_names.h"

namespace bench::results {
namespace {

constexpr const char* kLogOfARun = "benchmark_run.log";

ForeignFile read_source(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(fmt::format("{}: cannot be opened", printable(path.string())));
  ForeignFile source{.path = path, .text = {std::istreambuf_iterator<char>(file), {}}};
  if (file.bad()) throw DataError(fmt::format("{}: cannot be read", printable(path.string())));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // Spreadsheets begin with it.
  if (source.text.starts_with(kByteOrderMark)) source.text.erase(0, kByteOrderMark.size());
  return source;
}

/// Formats group runs by these names.
void name_workloads(std::vector<StoredRun>& runs) {
  std::map<std::string, const StoredRun*> one_of;
  for (const StoredRun& run : runs) one_of.emplace(run.workload_key, &run);
  std::vector<NamedWorkload> named;
  for (const auto& [key, run] : one_of) {
    named.push_back({.text = run->workload, .fields = workload_fields(run->record)});
  }
  std::vector<std::string> distinct = distinct_names(named);
  std::map<std::string, std::string> names;
  std::size_t i = 0;
  for (const auto& [key, run] : one_of) names[key] = std::move(distinct[i++]);
  for (StoredRun& run : runs) run.workload = names[run.workload_key];
}

/// Machines in containers may have equal names. Their suffix does not depend on the order of runs.
void name_machines(std::vector<StoredRun>& runs) {
  std::map<std::string, std::set<std::string>> keys;  // By name.
  for (const StoredRun& run : runs) keys[run.machine].insert(run.machine_key);
  constexpr std::size_t kDigits = 8;
  for (StoredRun& run : runs) {
    if (keys.at(run.machine).size() == 1) continue;
    run.machine += fmt::format(" (machine {})", run.machine_key.substr(0, kDigits));
  }
}

std::string names_of(bool read) {
  std::string names;
  for (const Format& format : formats()) {
    const bool counts = read ? format.read != nullptr : format.write != nullptr;
    if (!counts) continue;
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

void append_to(const std::filesystem::path& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << contents << std::flush;
  if (!file) throw WriteError(fmt::format("cannot write to {}", printable(path.string())));
}

}  // namespace

std::span<const Format> formats() {
  static const std::array kFormats = {
      tf_logs_format(),       google_benchmark_format(), hyperfine_format(),
      lnt_format(),           tf_stdout_format(),        csv_format(),
      mlperf_system_format(), tensorboard_format(),      github_format(),
      mllog_format(),         phoronix_format(),         chrome_trace_format(),
  };
  return kFormats;
}

const Format& format_to_write(std::string_view name) {
  for (const Format& format : formats()) {
    if (format.write != nullptr && format.name == name) return format;
  }
  throw UsageError(fmt::format("--format={}: not a format for export; the formats are {}",
                               printable(name), names_of(false)));
}

Written write_runs(const Format& format, std::vector<StoredRun> runs) {
  const std::size_t given = runs.size();
  if (!format.holds_failures) {
    std::erase_if(runs, [](const StoredRun& run) { return run.status != "ok"; });
    if (runs.empty() && given > 0) {
      throw UsageError(
          fmt::format("--format={}: the format cannot hold runs that failed or were "
                      "interrupted, and no other runs were selected",
                      format.name));
    }
  }
  name_workloads(runs);
  name_machines(runs);
  return {.outputs = format.write(runs), .omitted = given - runs.size()};
}

Records read_foreign(const std::filesystem::path& path) {
  const bool folder = std::filesystem::is_directory(path);
  const ForeignFile source = read_source(folder ? path / kLogOfARun : path);
  if (source.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw DataError(fmt::format("{}: is empty", printable(path.string())));
  }
  for (const Format& format : formats()) {
    if (format.read != nullptr && format.sniff(source)) return format.read(source);
  }
  throw DataError(fmt::format("{}: has an unknown format; the formats that can be read are {}",
                              printable(path.string()), names_of(true)));
}

std::vector<StoredRun> runs_in(const std::filesystem::path& path) {
  std::vector<StoredRun> runs;
  if (std::filesystem::is_directory(path)) {
    for (const std::filesystem::path& file : files_with_runs(path)) {
      std::ranges::move(runs_in(file), std::back_inserter(runs));
    }
    return runs;
  }
  const ForeignFile file = read_source(path);
  const bool foreign = file.text.find("\"bench.record/") == std::string::npos &&
                       std::any_of(formats().begin(), formats().end(), [&](const Format& format) {
                         return format.read != nullptr && format.sniff(file);
                       });
  if (!foreign) return read_runs(path);
  for (nlohmann::json& record : read_foreign(path)) {
    runs.push_back(stored_run(std::move(record), path.string()));
  }
  return runs;
}

std::vector<std::filesystem::path> files_with_runs(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files = record_files_of(path);
  if (!std::filesystem::is_directory(path)) return files;
  if (std::filesystem::exists(path / kLogOfARun)) return {path / kLogOfARun};
  // A folder of TensorFlow's logs for each run, as the export of several runs writes them.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    std::error_code error;  // A link to itself has no status.
    if (entry.is_regular_file(error) && entry.path().filename() == kLogOfARun) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void write_outputs(const Outputs& outputs, const std::filesystem::path& folder) {
  for (const Output& output : outputs) {
    const std::filesystem::path path = folder / output.name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      throw WriteError(fmt::format("cannot create the folder {}: {}",
                                   printable(path.parent_path().string()), error.message()));
    }
    if (output.append) {
      append_to(path, output.contents);
    } else {
      AtomicFile(path, "exported file").write(output.contents);
    }
  }
}

}  // namespace bench::results

#include "results/store/folder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "models/base/temporary_file.h"
#include "results/record/identity.h"
#include "results/store/members.h"
#include "results/store/record_files.h"
#include "results/store/run_rows.h"

namespace bench::results {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::array kNoteTables = {"baseline", "changepoint", "annotation"};

/// The index, and files being written.
constexpr std::array kNotForGit = {"index.sqlite*", ".*.tmp"};

fs::path notes_path(const fs::path& folder, const std::string& table) {
  return folder / "notes" / (table + ".jsonl");
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    throw WriteError(fmt::format("{}: cannot create the folder: {}", path.parent_path().string(),
                                 error.message()));
  }
  AtomicFile(path, "record").write(text);
}

/// The folders of the years.
std::vector<fs::path> year_folders(const fs::path& folder) {
  std::vector<fs::path> years;
  const auto digits = [](const std::string& name, std::size_t count) {
    return name.size() == count && name.find_first_not_of("0123456789") == std::string::npos;
  };
  for (const auto& year : fs::directory_iterator(folder)) {
    if (year.is_directory() && digits(year.path().filename().string(), 4)) {
      years.push_back(year.path());
    }
  }
  return years;
}

/// The record files, by record_id. Adds a sentence to `warnings` for what is not a regular file:
/// reading a pipe would wait for its writer.
std::map<std::string, fs::path> record_files(const fs::path& folder,
                                             std::vector<std::string>& warnings) {
  std::map<std::string, fs::path> files;
  for (const fs::path& year : year_folders(folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(year)) {
      if (entry.path().extension() != ".json") continue;
      std::error_code error;  // A link to itself has no status.
      if (entry.is_regular_file(error)) {
        files[entry.path().stem().string()] = entry.path();
      } else {
        warnings.push_back(entry.path().string() + ": not a regular file");
      }
    }
  }
  return files;
}

json json_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

Cell cell_of(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return {};
}

void read_notes(const fs::path& folder, const Database& index, const std::string& table) {
  index.run("DELETE FROM " + table);
  const fs::path path = notes_path(folder, table);
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    throw DataError(path.string() + ": not a regular file");
  }
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const json row = json::parse(line, nullptr, false);
    if (!row.is_array() || row.empty()) {
      throw DataError(
          fmt::format("{}, line {}: not a row of the table {}", path.string(), number, table));
    }
    std::string marks = "?";
    for (std::size_t i = 1; i < row.size(); ++i) marks += ", ?";
    Statement insert =
        index.prepare(fmt::format("INSERT OR REPLACE INTO {} VALUES({})", table, marks));
    int place = 0;
    for (const json& value : row) {
      insert.bind(++place, cell_of(value));
    }
    insert.run();
  }
}

}  // namespace

fs::path record_path(const fs::path& folder, const StoredRun& run) {
  const std::string time =
      utc_text(std::chrono::system_clock::time_point(std::chrono::milliseconds(run.start_ms)));
  return folder / time.substr(0, 4) / time.substr(5, 2) / (run.record_id + ".json");
}

fs::path index_path(const fs::path& folder) { return folder / "index.sqlite"; }

bool write_record(const fs::path& folder, const StoredRun& run) {
  const fs::path path = record_path(folder, run);
  const bool there = fs::exists(path);
  write_file(path, run.record.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  return !there;
}

void keep_from_git(const fs::path& folder) {
  const fs::path path = folder / ".gitignore";
  try {
    if (fs::exists(path) && !fs::is_regular_file(path)) return;
    std::ifstream file(path);
    if (!file.is_open() && fs::exists(path)) return;
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!text.empty() && text.back() != '\n') text += '\n';
    const std::size_t before = text.size();
    for (const char* line : kNotForGit) {
      const std::string whole_line = fmt::format("\n{}\n", line);
      if (("\n" + text).find(whole_line) == std::string::npos) text += whole_line.substr(1);
    }
    if (text.size() > before) AtomicFile(path, "list of what git ignores").write(text);
  } catch (const std::runtime_error&) {
    // Failed to read or write, for example in a read-only folder. The record must not be lost
    // because of that.
  }
}

void remove_half_written(const fs::path& folder) {
  for (const fs::path& year : year_folders(folder)) {
    for (const auto& entry : fs::directory_iterator(year)) {
      if (entry.is_directory()) remove_abandoned_in(entry.path(), ".json");
    }
  }
  remove_abandoned_in(folder / "notes", ".jsonl");
}

std::vector<std::string> refresh_index(const fs::path& folder, const Database& index,
                                       const std::function<void(const std::string&)>& tell) {
  std::vector<std::string> warnings;
  Transaction transaction(index);
  // Only now: a program adds a record to the files first, then to the index.
  const std::map<std::string, fs::path> files = record_files(folder, warnings);
  std::vector<std::string> gone;
  std::map<std::string, bool> indexed;
  Statement ids = index.prepare("SELECT record_id FROM run");
  while (ids.step()) {
    const std::string id = ids.text(0);
    indexed[id] = true;
    if (files.find(id) == files.end()) gone.push_back(id);
  }
  for (const std::string& id : gone) {
    delete_run(index, id);
  }
  constexpr std::ptrdiff_t kMany = 500;  // Reading a record takes about 5 ms.
  const auto fresh = std::count_if(files.begin(), files.end(), [&](const auto& file) {
    return indexed.find(file.first) == indexed.end();
  });
  if (fresh >= kMany && tell) tell(fmt::format("reading {} records for the index", fresh));
  for (const auto& [id, path] : files) {
    if (indexed.find(id) != indexed.end()) continue;
    std::vector<StoredRun> runs;
    try {
      runs = read_runs(path);
      for (const StoredRun& run : runs) {
        if (run.record_id != id) {
          throw DataError(fmt::format("{}: the file name is not the record_id, {}", path.string(),
                                      run.record_id));
        }
      }
    } catch (const DataError& error) {
      warnings.emplace_back(error.what());
      continue;
    }
    for (const StoredRun& run : runs) insert_run(index, run);
  }
  for (const char* table : kNoteTables) {
    read_notes(folder, index, table);
  }
  transaction.commit();
  return warnings;
}

void write_notes(const fs::path& folder, const Database& index, const std::string& table) {
  std::vector<std::string> lines;
  Statement rows = index.prepare("SELECT * FROM " + table);
  while (rows.step()) {
    json row = json::array();
    for (int column = 0; column < rows.columns(); ++column) {
      row.push_back(json_of(rows.cell(column)));
    }
    lines.push_back(compact(row) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  write_file(notes_path(folder, table), text);
}

}  // namespace bench::results

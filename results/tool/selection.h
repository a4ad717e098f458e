#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "models/base/command_line.h"
#include "results/store/store.h"

namespace bench::results {

/// The store that a command works on. A command that needs it has this row in its table.
inline constexpr Option kStoreOption{.name = "store",
                                     .value = "PATH",
                                     .meaning =
                                         "database or folder of records; unset: $BENCH_STORE, else "
                                         "~/.local/share/bench/results.sqlite"};

/// The store that kStoreOption in `arguments` names, else the default store.
Store open_store(const Arguments& arguments, Store::Access access, std::ostream* notes = nullptr);

/// Prints what takes long as a note.
TellSlow slow_note(std::ostream& notes);
std::filesystem::path store_path(const Arguments& arguments);
/// Prints a line for each file that the store skips.
void print_warnings(const Store& store, std::ostream& notes);

/// Selects whether runs have their records. Without them, `record` is null for runs from the store.
/// A thousand such runs take as long as a few with records.
enum class Detail : std::uint8_t { kRecords, kSummaries };

/// The runs that `selectors` name, each once, oldest first. A selector is a file or folder of
/// records, the id of a run or a group, a baseline, or a filter over the store. `arguments` must
/// have kStoreOption, which names the store; it is opened only if a selector needs it.
/// Throws UsageError for an invalid selector, DataError for one that finds no run. If several
/// selectors are filters, prints a note on `notes`: `list` reads the same words as one filter,
/// which selects fewer runs. Prints the store's warnings there too.
std::vector<StoredRun> select_runs(const Arguments& arguments,
                                   std::span<const std::string> selectors, std::ostream& notes,
                                   Detail detail = Detail::kRecords);
/// The runs of each selector, with their records. Opens the store at most once, so each of its
/// warnings is printed once.
std::vector<std::vector<StoredRun>> select_each(const Arguments& arguments,
                                                std::span<const std::string> selectors,
                                                std::ostream& notes);

/// Now, in milliseconds since 1970.
std::int64_t now_ms();

}  // namespace bench::results

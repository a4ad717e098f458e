#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench::results {

/// Fields of a record that must agree for some purpose: path -> value as JSON text, "null" where it
/// is not known. A field that the record does not have at all is left out, so that records of
/// older versions keep their keys.
using Fields = std::map<std::string, std::string>;

/// What was run; equal for runs of the same work. Flags count with the value that took effect, so
/// that a default that was given and one that was not are the same.
Fields workload_fields(const nlohmann::json& record);

/// The paths of these fields: first what a user chooses, last what follows from it.
std::vector<std::string> workload_paths();

/// On what: processor, how many threads on which instruction set, GPUs, the host. Inside of a
/// container, whose host name is made anew each time, the host is left out.
Fields machine_fields(const nlohmann::json& record);

/// Hardware, software and settings: all that may explain a difference between runs of the same
/// work.
Fields environment_fields(const nlohmann::json& record);

/// The same, to be held against that of other records: a setting for which there was no flag yet
/// when bench wrote the record has the value by which the run went.
Fields comparable_environment(const nlohmann::json& record);

/// A field's value without the quotes of JSON texts, which say nothing to readers.
std::string plain_text(const std::string& text);

/// 16 hexadecimal digits, equal for equal fields.
std::string key_of(const Fields& fields);

/// Where two differ, path -> both values, "absent" for a field that one does not have.
std::map<std::string, std::pair<std::string, std::string>> differing_fields(const Fields& a,
                                                                            const Fields& b);

/// Such as "resnet50 train bs64 f32".
std::string workload_text(const nlohmann::json& record);

/// Such as "node7, AMD EPYC 9654, 2 threads, avx512".
std::string machine_text(const nlohmann::json& record);

}  // namespace bench::results

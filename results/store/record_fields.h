#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bench::results {

/// Fields of a record that must agree for some purpose: path -> value as JSON text, "null" if it is
/// not known. Fields that the record lacks are omitted, so that records of older versions keep
/// their keys.
using Fields = std::map<std::string, std::string>;

/// What was run; equal for runs of the same workload. Flags count with the value that took effect,
/// so a default is the same whether it was given or not.
Fields workload_fields(const nlohmann::json& record);

/// True for the path of a workload field that follows from the user's choices.
bool is_derived(std::string_view path);

/// What it ran on: processor, threads and instruction set, GPUs, the host. Omits the host in a
/// container, whose host name is new each time.
Fields machine_fields(const nlohmann::json& record);

/// Hardware, software and settings: all that may explain a difference between runs of the same
/// workload.
Fields environment_fields(const nlohmann::json& record);

/// A field's value without the quotes of JSON texts.
std::string plain_text(const std::string& text);

/// 16 hexadecimal digits, equal for equal fields.
std::string key_of(const Fields& fields);

/// The fields in which two differ: path -> both values, "absent" for a missing field.
std::map<std::string, std::pair<std::string, std::string>> differing_fields(const Fields& a,
                                                                            const Fields& b);

/// For example "resnet50 train bs64 f32".
std::string workload_text(const nlohmann::json& record);

/// For example "node7, AMD EPYC 9654, 2 threads, avx512".
std::string machine_text(const nlohmann::json& record);

}  // namespace bench::results

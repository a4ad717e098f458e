#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "results/environment/system_files.h"
#include "results/record/record.h"

/// Facts about the machine, for the record. A file that is missing or unreadable never throws: the
/// value is then unknown, with the reason.
namespace bench {

results::Host capture_host(const SystemFiles& files);

/// The caller sets `processors_used` and `isa_used`.
results::Cpu capture_cpu(const SystemFiles& files);

results::Memory capture_memory(const SystemFiles& files);

results::LoadSample capture_load(const SystemFiles& files);

/// The kernel's clock source.
Captured<std::string> capture_clocksource(const SystemFiles& files);

/// The local time zone's current offset from UTC, such as "+0100".
Captured<std::string> capture_time_zone();

/// The current resident set of this process, in bytes.
Captured<std::int64_t> resident_bytes(const SystemFiles& files);
/// The largest resident set of this process so far, or since reset_peak_rss(), in bytes.
Captured<std::int64_t> peak_rss_bytes(const SystemFiles& files);
/// Resets the peak; returns false if the system does not support it.
bool reset_peak_rss();

/// The variables of an environment that affect performance: those of OpenMP, allocators, the
/// loader, oneDNN, MKL, CUDA and NCCL. `environment` contains "NAME=value" and ends with a null
/// pointer.
std::map<std::string, std::string> capture_environment_variables(const char* const* environment);
/// The variables that TensorFlow reads, by their prefixes (TF_CPP_*, TF_GPU_*, ...). Others with
/// TF_ belong to other programs, such as Terraform, and may be secret.
std::map<std::string, std::string> capture_tensorflow_variables(const char* const* environment);

/// The shared libraries in this process, by name, with path, build id and the version in the file
/// name.
std::vector<results::Library> loaded_libraries();

}  // namespace bench

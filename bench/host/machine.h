#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/host/system_files.h"
#include "results/record.h"

/// What the machine tells about itself, for the record. Nothing here throws for a file that is
/// missing or cannot be read: the value is then unknown, with the reason.
namespace bench {

results::Host capture_host(const SystemFiles& files);

/// Leaves `processors_used` and `isa_used` to those who know them.
results::Cpu capture_cpu(const SystemFiles& files);

results::Memory capture_memory(const SystemFiles& files);

results::LoadSample capture_load(const SystemFiles& files);

/// The kernel's clock source.
Captured<std::string> capture_clocksource(const SystemFiles& files);

/// The local time zone's offset from UTC now, such as "+0100".
Captured<std::string> capture_time_zone();

/// Resident set of this process now, in bytes.
Captured<std::int64_t> resident_bytes(const SystemFiles& files);
/// Largest resident set of this process so far, or since reset_peak_rss(), in bytes.
Captured<std::int64_t> peak_rss_bytes(const SystemFiles& files);
/// Lets that begin anew; false where the system does not.
bool reset_peak_rss();

/// Those variables of an environment ("NAME=value", ended by a null pointer) that change how fast a
/// program runs: of OpenMP, allocators, the loader, oneDNN, MKL, CUDA and NCCL.
std::map<std::string, std::string> capture_environment_variables(const char* const* environment);
/// Those that TensorFlow reads, by the beginnings of its names (TF_CPP_*, TF_GPU_*, ...); others
/// that begin with TF_ are other programs', such as Terraform's, and may be secret.
std::map<std::string, std::string> capture_tensorflow_variables(const char* const* environment);

/// The shared libraries this process has loaded, by name, with path, build id and the version in
/// the name of the file.
std::vector<results::Library> loaded_libraries();

}  // namespace bench

#include <cmath>
#include <set>

#include "models/base/errors.h"
#include "results/formats/record_view.h"
#include "results/formats/rows.h"

/// MLPerf's system description (systems/<name>.json of a submission) with every required field.
/// Fields that the record lacks, such as the submitter, are empty.
namespace bench::results {
namespace {

using Ordered = nlohmann::ordered_json;
using nlohmann::json;

std::string gibibytes(std::optional<std::int64_t> bytes) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  return bytes ? fmt::format("{} GiB", std::llround(static_cast<double>(*bytes) / kGibibyte)) : "";
}

std::string whole(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{} {}", std::llround(*value), unit) : "";
}

std::string joined(const json* list) {
  std::string text;
  if (list == nullptr || !list->is_array()) return text;
  for (const json& item : *list) {
    if (!item.is_string()) continue;
    if (!text.empty()) text += ", ";
    text += item.get<std::string>();
  }
  return text;
}

std::string other_software(const json& record) {
  std::string text;
  const json* libraries = field(record, "build.libs");
  if (libraries == nullptr || !libraries->is_array()) return text;
  for (const json& library : *libraries) {
    const std::string version = text_field(library, "version");
    if (version.empty()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", text_field(library, "name"), version);
  }
  return text;
}

Ordered number_or_empty(const std::optional<std::int64_t>& value) {
  return value ? Ordered(*value) : Ordered("");
}

Ordered mlperf_system(const StoredRun& run) {
  const json& record = run.record;
  const json* gpus = field(record, "gpu");
  const bool accelerated = gpus != nullptr && gpus->is_array() && !gpus->empty();
  const json gpu = accelerated ? gpus->front() : json::object();
  const auto sockets = integer_field(record, "cpu.sockets");
  const auto per_socket = [&](const char* path) {
    const auto all = integer_field(record, path);
    return all && sockets && *sockets > 0 ? std::optional(*all / *sockets) : all;
  };
  return {
      {"submitter", ""},
      {"division", "open"},
      {"status", ""},
      {"system_name", run.machine},
      {"number_of_nodes", 1},
      {"host_processors_per_node", number_or_empty(sockets)},
      {"host_processor_model_name", text_field(record, "cpu.model")},
      {"host_processor_core_count", number_or_empty(per_socket("cpu.cores"))},
      {"host_processor_vcpu_count", number_or_empty(per_socket("cpu.threads"))},
      {"host_processor_frequency", whole(number_field(record, "cpu.max_mhz"), "MHz")},
      {"host_processor_caches", joined(field(record, "cpu.caches"))},
      {"host_processor_interconnect", ""},
      {"host_memory_capacity", gibibytes(integer_field(record, "memory.total"))},
      {"host_memory_configuration", ""},
      {"host_storage_type", text_field(record, "dataset.storage.device_model")},
      {"host_storage_capacity", ""},
      {"host_networking", ""},
      {"host_networking_topology", ""},
      {"host_networking_card_count", ""},
      {"accelerators_per_node", accelerated ? gpus->size() : 0},
      {"accelerator_model_name", text_field(gpu, "name")},
      {"accelerator_host_interconnect", ""},
      {"accelerator_frequency", whole(number_field(gpu, "clocks_max_mhz.sm"), "MHz")},
      {"accelerator_on-chip_memories", ""},
      {"accelerator_memory_configuration", ""},
      {"accelerator_memory_capacity", gibibytes(integer_field(gpu, "memory_total"))},
      {"accelerator_interconnect", ""},
      {"accelerator_interconnect_topology", ""},
      {"cooling", ""},
      {"hw_notes", text_field(record, "host.hypervisor")},
      {"framework", fmt::format("bench {}, {}", text_field(record, "source.bench_version"),
                                text_field(record, "workload.backend"))},
      {"other_software_stack", other_software(record)},
      {"operating_system", fmt::format("{}, kernel {}", text_field(record, "host.os"),
                                       text_field(record, "host.kernel"))},
      {"sw_notes", text_field(record, "build.flags")},
  };
}

/// One file per machine.
Outputs write_mlperf_system(std::span<const StoredRun> runs) {
  Outputs outputs;
  std::set<std::string> seen;
  for (const StoredRun& run : runs) {
    if (!seen.insert(run.machine_key).second) continue;
    outputs.push_back(
        {.name = fmt::format("{}-{}.json", word_of(run.machine), run.machine_key.substr(0, 4)),
         .contents =
             mlperf_system(run).dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n"});
  }
  return outputs;
}

}  // namespace

Format mlperf_system_format() {
  return {.name = "mlperf-system",
          .what = "MLPerf's system description, one file per machine",
          .write = write_mlperf_system};
}

}  // namespace bench::results

#include "results/store/record_fields.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "models/base/errors.h"
#include "results/record/identity.h"
#include "results/store/members.h"

namespace bench::results {
namespace {

using nlohmann::json;

/// Members of `workload` that say what was run. The layout is the requested one, not that of a
/// layer.
constexpr std::array kWorkloadMembers = {
    "model",           "mode",        "backend", "data",       "batch_per_device",
    "devices",         "dtype",       "layout",  "image_size", "optimizer",
    "variable_update", "num_batches", "warmup",  "seed"};

/// Members of `workload` that follow from what was run.
constexpr std::array kDerivedMembers = {"model_params", "global_batch", "workload_version",
                                        "flops_per_image"};

constexpr std::array kCpuHardware = {
    "vendor", "model", "family_model_stepping", "sockets", "cores", "threads", "isa_used"};

constexpr std::array kGpuSettings = {
    "name", "compute_capability", "driver",           "memory_total", "ecc", "persistence",
    "mig",  "clocks_max_mhz",     "power_limit_watts"};

/// Members of `cpu` and `memory` that change from one second to the next.
constexpr std::array kVolatile = {"cpu.mhz", "cpu.celsius", "memory.available", "memory.swap_used"};

void add(Fields& fields, const json& record, const std::string& path) {
  if (const json* value = member_at(record, path)) {
    fields[path] = compact(*value);
  }
}

/// Adds each member of the object at `path`, including those of nested objects.
void add_members(Fields& fields, const json& record, const std::string& path) {
  const json* object = member_at(record, path);
  if (object == nullptr || !object->is_object()) {
    return;
  }
  for (const auto& [name, value] : object->items()) {
    const std::string inner = fmt::format("{}.{}", path, name);
    bool changes = false;
    for (const char* one : kVolatile) {
      changes = changes || inner == one;
    }
    if (changes) {
      continue;
    }
    if (value.is_object()) {
      add_members(fields, record, inner);
    } else {
      fields[inner] = compact(value);
    }
  }
}

/// Records without a number are of one process.
bool has_several_processes(const json& record) {
  const json* processes = member_at(record, "workload.processes");
  return processes != nullptr && *processes != 1;
}

void add_processes(Fields& fields, const json& record) {
  if (has_several_processes(record)) {
    add(fields, record, "workload.processes");
  }
}

/// Ordinary datasets may have a few seekable images. Records without the number have none.
void add_seekable(Fields& fields, const json& record) {
  const json* images = member_at(record, "input.images");
  const json* seekable = member_at(record, "input.seekable");
  if (images != nullptr && images->is_number() && seekable != nullptr && seekable->is_number() &&
      2 * seekable->get<double>() > images->get<double>()) {
    fields["input.seekable"] = "true";
  }
}

void add_libraries(Fields& fields, const json& record) {
  const json* libraries = member_at(record, "build.libs");
  if (libraries == nullptr || !libraries->is_array()) {
    return;
  }
  for (const json& library : *libraries) {
    const json* name = member_at(library, "name");
    if (name == nullptr || !name->is_string()) {
      continue;
    }
    const json* version = member_at(library, "version");
    const json* build_id = member_at(library, "build_id");
    const json* told = version != nullptr && !version->is_null() ? version : build_id;
    fields["build.libs." + name->get<std::string>()] = told == nullptr ? "null" : compact(*told);
  }
}

template <std::size_t kCount>
void add_gpus(Fields& fields, const json& record, const std::array<const char*, kCount>& members) {
  const json* gpus = member_at(record, "gpu");
  if (gpus == nullptr || !gpus->is_array()) {
    return;
  }
  std::size_t index = 0;
  for (const json& gpu : *gpus) {
    for (const char* member : members) {
      if (const json* value = member_at(gpu, member)) {
        fields[fmt::format("gpu.{}.{}", index, member)] = compact(*value);
      }
    }
    ++index;
  }
}

/// Outside a container the value is "none" or "none found".
bool in_container(const json& record) {
  const std::string container = text_at(record, "host.container");
  return !container.empty() && !container.starts_with("none");
}

std::size_t threads_used(const json& record) {
  const json* used = member_at(record, "cpu.processors_used");
  return used != nullptr && used->is_array() ? used->size() : 0;
}

void append(std::string& text, std::string_view separator, const std::string& part) {
  if (part.empty()) return;
  if (!text.empty()) text += separator;
  text += part;
}

/// Speed depends on whether weights come from a file, but not on its path. It does not depend on
/// how often an evaluation looks for checkpoints.
void generalize_flags(Fields& fields) {
  for (const char* name : {"init_from", "backbone_model_path"}) {
    const auto found = fields.find(fmt::format("flags.workload.{}", name));
    if (found != fields.end() && found->second != "null") found->second = R"("given")";
  }
  fields.erase("flags.workload.eval_interval_secs");
}

}  // namespace

Fields workload_fields(const json& record) {
  Fields fields;
  for (const char* name : kWorkloadMembers) {
    add(fields, record, fmt::format("workload.{}", name));
  }
  add_processes(fields, record);
  add_members(fields, record, "flags.workload");
  generalize_flags(fields);
  add(fields, record, "dataset.name");
  add_seekable(fields, record);
  for (const char* name : kDerivedMembers) {
    add(fields, record, fmt::format("workload.{}", name));
  }
  return fields;
}

bool is_derived(std::string_view path) {
  return std::any_of(kDerivedMembers.begin(), kDerivedMembers.end(), [&](std::string_view name) {
    return path == fmt::format("workload.{}", name);
  });
}

Fields machine_fields(const json& record) {
  Fields fields;
  add_processes(fields, record);
  for (const char* name : kCpuHardware) {
    add(fields, record, fmt::format("cpu.{}", name));
  }
  if (member_at(record, "cpu.processors_used") != nullptr) {
    fields["cpu.threads_used"] = std::to_string(threads_used(record));
  }
  add(fields, record, "host.platform");
  add(fields, record, "host.cgroup.cpu_quota");
  add_gpus(fields, record, std::array{"name", "memory_total"});
  if (!in_container(record)) {
    add(fields, record, "host.machine_id_hash");
    add(fields, record, "host.hostname");
  }
  return fields;
}

Fields environment_fields(const json& record) {
  Fields fields = machine_fields(record);
  add(fields, record, "time.clocksource");
  for (const char* path : {"source", "build", "host", "cpu", "memory", "process", "env"}) {
    add_members(fields, record, path);
  }
  fields.erase("build.libs");
  add_libraries(fields, record);
  add_gpus(fields, record, kGpuSettings);
  add_members(fields, record, "flags.execution");
  add(fields, record, "dataset.storage.fs");
  return fields;
}

std::string plain_text(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string key_of(const Fields& fields) { return sha256_hex(compact(json(fields))).substr(0, 16); }

std::map<std::string, std::pair<std::string, std::string>> differing_fields(const Fields& a,
                                                                            const Fields& b) {
  std::map<std::string, std::pair<std::string, std::string>> differing;
  for (const auto& [path, value] : a) {
    const auto other = b.find(path);
    if (other == b.end()) {
      differing[path] = {value, "absent"};
    } else if (other->second != value) {
      differing[path] = {value, other->second};
    }
  }
  for (const auto& [path, value] : b) {
    if (a.find(path) == a.end()) {
      differing[path] = {"absent", value};
    }
  }
  return differing;
}

std::string workload_text(const json& record) {
  std::string text = text_at(record, "workload.model");
  append(text, " ", text_at(record, "workload.mode"));
  const json* batch = member_at(record, "workload.batch_per_device");
  if (batch != nullptr && batch->is_number_integer()) {
    append(text, " ", fmt::format("bs{}", batch->get<std::int64_t>()));
  }
  const json* devices = member_at(record, "workload.devices");
  if (devices != nullptr && devices->is_number_integer() && devices->get<std::int64_t>() > 1) {
    append(text, " ", fmt::format("x{}", devices->get<std::int64_t>()));
  }
  append(text, " ", text_at(record, "workload.dtype"));
  const std::string data = text_at(record, "workload.data");
  append(text, " ", data == "synthetic" ? "" : data);
  return text;
}

std::string machine_text(const json& record) {
  std::string text = in_container(record) ? "" : text_at(record, "host.hostname");
  const json* gpus = member_at(record, "gpu");
  if (gpus != nullptr && gpus->is_array() && !gpus->empty()) {
    const std::string name = text_at(gpus->front(), "name");
    append(text, ", ", gpus->size() > 1 ? fmt::format("{} x {}", gpus->size(), name) : name);
  }
  append(text, ", ", text_at(record, "cpu.model"));
  if (const std::size_t threads = threads_used(record); threads > 0) {
    append(text, ", ", threads == 1 ? "1 thread" : fmt::format("{} threads", threads));
    if (has_several_processes(record)) {
      append(text, ", ",
             fmt::format("{} processes", compact(*member_at(record, "workload.processes"))));
    }
  }
  append(text, ", ", text_at(record, "cpu.isa_used"));
  return text;
}

}  // namespace bench::results

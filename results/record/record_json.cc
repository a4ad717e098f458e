#include "results/record/record_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "results/record/conditions_json.h"
#include "results/record/gpu_json.h"
#include "results/record/identity.h"
#include "results/record/input_json.h"
#include "results/record/json_section.h"
#include "results/record/training_json.h"

namespace bench::results {
namespace {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kFailed:
      return "failed";
    case Status::kAborted:
      return "aborted";
  }
  throw InternalError("unnamed Status");
}

std::string_view name_of(Better better) {
  switch (better) {
    case Better::kHigher:
      return "higher";
    case Better::kLower:
      return "lower";
    case Better::kNone:
      return "none";
  }
  throw InternalError("unnamed Better");
}

void put_time(Section out, const Time& time) {
  out.put("start_utc", utc_text(time.start_utc));
  out.put("end_utc", utc_text(time.end_utc));
  out.put("monotonic_ns", time.monotonic_ns);
  out.put("tz", time.tz);
  out.put("clocksource", time.clocksource);
}

void put_flags(Section out, const FlagValues& flags) {
  for (const auto& [name, value] : flags) out.put(name, value);
}

void put_workload(Section out, const Workload& workload) {
  out.put("model", workload.model);
  out.put("printed_model", workload.printed_model);
  out.put("mode", workload.mode);
  out.put("backend", workload.backend);
  out.put("data", workload.data);
  out.put("batch_per_device", workload.batch_per_device);
  out.put("devices", workload.devices);
  out.put("processes", workload.processes);
  out.put("global_batch", workload.global_batch);
  out.put("dtype", workload.dtype);
  out.put("layout", workload.layout);
  out.put("image_size", workload.image_size);
  out.put("optimizer", workload.optimizer);
  out.put("variable_update", workload.variable_update);
  out.put("num_batches", workload.num_batches);
  out.put("num_epochs", workload.num_epochs);
  out.put("warmup", workload.warmup);
  out.put("seed", workload.seed);
  out.put("model_params", workload.model_params);
  out.put("flops_per_image", workload.flops_per_image);
  out.put("workload_version", workload.workload_version);
}

void put_run_flags(Section out, const RunFlags& flags) {
  put_flags(out.child("given"), flags.given);
  put_flags(out.child("workload"), flags.workload);
  put_flags(out.child("execution"), flags.execution);
  put_flags(out.child("output"), flags.output);
  out.put("command_line", flags.command_line);
}

void put_batch_choice(Section out, const BatchChoice& choice) {
  out.put("rule", choice.rule);
  out.put_list("tried", choice.tried, [](Section& item, const BatchTrial& trial) {
    item.put("batch", trial.batch);
    item.put("images_per_sec", trial.images_per_sec);
    item.put("spread", trial.spread);
    item.put("steps", trial.steps);
  });
}

void put_source(Section out, const Source& source) {
  out.put("git_rev", source.git_rev);
  out.put("dirty", source.dirty);
  out.put("commit_time", source.commit_time);
  out.put("bench_version", source.bench_version);
}

void put_build(Section out, const Build& build) {
  out.put("compiler", build.compiler);
  out.put("version", build.version);
  out.put("flags", build.flags);
  out.put("link_flags", build.link_flags);
  out.put("build_type", build.build_type);
  out.put("sanitizer", build.sanitizer);
  out.put("stdlib", build.stdlib);
  out.put("exe_sha256", build.exe_sha256);
  out.put_list("libs", build.libs, [](Section& item, const Library& library) {
    item.put("name", library.name);
    item.put("version", library.version);
    item.put("so_path", library.so_path);
    item.put("build_id", library.build_id);
  });
}

void put_host(Section out, const Host& host) {
  out.put("hostname", host.hostname);
  out.put("machine_id_hash", host.machine_id_hash);
  out.put("platform", host.platform);
  out.put("os", host.os);
  out.put("kernel", host.kernel);
  out.put("hypervisor", host.hypervisor);
  out.put("container", host.container);
  out.put("libc", host.libc);
  out.put("kernel_parameters", host.kernel_parameters);
  out.put("vulnerabilities", host.vulnerabilities);
  out.put("selinux", host.selinux);
  Section cgroup = out.child("cgroup");
  cgroup.put("cpu_quota", host.cgroup.cpu_quota);
  cgroup.put("cpuset", host.cgroup.cpuset);
  cgroup.put("memory_max", host.cgroup.memory_max);
}

void put_cpu(Section out, const Cpu& cpu) {
  out.put("vendor", cpu.vendor);
  out.put("model", cpu.model);
  out.put("family_model_stepping", cpu.family_model_stepping);
  out.put("microcode", cpu.microcode);
  out.put("sockets", cpu.sockets);
  out.put("cores", cpu.cores);
  out.put("threads", cpu.threads);
  out.put("smt", cpu.smt);
  out.put("flags", cpu.flags);
  out.put("caches", cpu.caches);
  out.put("base_mhz", cpu.base_mhz);
  out.put("max_mhz", cpu.max_mhz);
  out.put("min_mhz", cpu.min_mhz);
  out.put("governor", cpu.governor);
  out.put("driver", cpu.driver);
  out.put("epp", cpu.epp);
  out.put("epb", cpu.epb);
  out.put("turbo", cpu.turbo);
  out.put("numa_nodes", cpu.numa_nodes);
  out.put("numa_distances", cpu.numa_distances);
  out.put("online", cpu.online);
  out.put("affinity", cpu.affinity);
  out.put("processors_used", cpu.processors_used);
  out.put("isa_used", cpu.isa_used);
}

void put_memory(Section out, const Memory& memory) {
  out.put("total", memory.total);
  out.put("available", memory.available);
  out.put("swap_used", memory.swap_used);
  out.put("hugepages", memory.hugepages);
  out.put("thp", memory.thp);
  out.put("numa_balancing", memory.numa_balancing);
  if (!memory.dimms.known()) {
    out.put_null("dimms", memory.dimms.why());
    return;
  }
  out.put_list("dimms", memory.dimms.value(), [](Section& item, const Dimm& dimm) {
    item.put("slot", dimm.slot);
    item.put("bytes", dimm.bytes);
    item.put("kind", dimm.kind);
    item.put("megatransfers_per_second", dimm.megatransfers_per_second);
    item.put("part", dimm.part);
  });
}

void put_process(Section out, const Process& process) {
  out.put("nice", process.nice);
  out.put("scheduling", process.scheduling);
  out.put("address_randomization", process.address_randomization);
  out.put("limit_memlock", process.limit_memlock);
  out.put("limit_address_space", process.limit_address_space);
  out.put("limit_stack", process.limit_stack);
}

void put_load(Section out, const Load& load) {
  const auto put_sample = [](Section part, const LoadSample& sample) {
    part.put("loadavg_1m", sample.loadavg_1m);
    part.put("loadavg_5m", sample.loadavg_5m);
    part.put("loadavg_15m", sample.loadavg_15m);
    part.put("procs_running", sample.procs_running);
  };
  put_sample(out.child("before"), load.before);
  put_sample(out.child("after"), load.after);
  out.put("steal_share", load.steal_share);
  out.put("lacking_processors", load.lacking_processors);
  put_busy(out, load.busy);
  put_throttling(out.child("cgroup_throttling"), load.throttling);
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kValid:
      return "VALID";
    case Verdict::kInvalid:
      return "INVALID";
  }
  throw InternalError("unnamed Verdict");
}

void put_quality(Section out, const Quality& quality) {
  out.put("verdict", quality.verdict.known()
                         ? Captured<std::string_view>(name_of(quality.verdict.value()))
                         : Captured<std::string_view>(Unknown{quality.verdict.why()}));
  out.put("reasons", quality.reasons);
  out.put("unread", quality.unread);
  out.put("warnings", quality.warnings);
  out.put("score", quality.score);
  out.put("deductions", quality.deductions);
}

void put_metric(Section& out, const Metric& metric) {
  out.put("name", metric.name);
  out.put("value", metric.value);
  out.put("unit", metric.unit);
  out.put("better", name_of(metric.better));
  out.put("kind", metric.kind == Kind::kExact ? "exact" : "noisy");
  out.put("scope", metric.scope == Scope::kStep ? "step" : "run");
}

void put_choices(Section out, const Choices& choices) {
  out.put("by", choices.by);
  out.put("made_for", choices.made_for);
  Section nodes = out.child("nodes");
  for (const auto& [name, choice] : choices.nodes) {
    Section node = nodes.child(name);
    node.put("implementation", choice.implementation);
    node.put("inputs", choice.inputs);
    node.put("outputs", choice.outputs);
  }
  out.put("held", choices.held);
  out.put("reduced_on", choices.reduced_on);
}

std::vector<std::int64_t> counts(const std::vector<std::chrono::nanoseconds>& times) {
  std::vector<std::int64_t> out;
  out.reserve(times.size());
  for (const auto time : times) out.push_back(time.count());
  return out;
}

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void put_parts(Section& out, const StepParts& parts) {
  out.put("input", parts.input);
  out.put("computing", parts.computing);
  out.put("exposed_communication", parts.exposed_communication);
  out.put("updating", parts.updating);
  out.put("host", parts.host);
}

void put_scaling(Section out, const Scaling& scaling) {
  out.put("reference_devices", scaling.reference_devices);
  out.put("reference_images_per_sec", scaling.reference_images_per_sec);
  out.put("efficiency", scaling.efficiency);
  Section lost = out.child("lost");
  put_parts(lost, scaling.lost);
  out.put("lost_waiting", scaling.lost.waiting);
}

void put_world(Section out, const World& world) {
  out.put("launcher", world.launcher);
  out.put("mpi", world.mpi);
  out.put("parameter_servers", world.parameter_servers);
  out.put_list("ranks", world.ranks, [](Section& item, const WorldRank& rank) {
    item.put("host", rank.host);
    item.put("cpu", rank.cpu);
    item.put("isa_used", rank.isa_used);
    item.put("governor", rank.governor);
    item.put("processors", rank.processors);
    item.put("gpus", rank.gpus);
    item.put("computing", rank.computing);
    item.put("exposed_communication", rank.exposed_communication);
    item.put("steps", rank.steps);
    if (rank.staleness) {
      Section staleness = item.child("staleness");
      staleness.put("median", rank.staleness->median);
      staleness.put("p95", rank.staleness->p95);
      staleness.put("max", rank.staleness->max);
    }
    item.put("env", rank.env);
  });
  if (world.link) {
    Section link = out.child("link");
    link.put("latency", world.link->latency);
    link.put("per_message", world.link->per_message);
    link.put("bytes_per_second", world.link->bytes_per_second);
    link.put("error", world.link->error);
  }
  out.put_list("predicted", world.predicted, [](Section& item, const PredictedSpeed& speed) {
    item.put("ranks", speed.ranks);
    item.put("images_per_sec", speed.images_per_sec);
    item.put("efficiency", speed.efficiency);
  });
}

}  // namespace

std::string record_json(const Record& record) {
  Json root;
  Json errors = Json::object();
  Section out(root, errors, "");
  out.put("schema", kSchema);
  out.put("record_id", "");  // Its place; the value needs all the rest.
  out.put("run_uuid", record.run_uuid);
  put_labels(out, record.labels);
  out.put("status", name_of(record.status));
  out.put("partial", record.partial);
  out.put("status_reason", record.status_reason);
  put_time(out.child("time"), record.time);
  put_workload(out.child("workload"), record.workload);
  put_run_flags(out.child("flags"), record.flags);
  put_batch_choice(out.child("batch_choice"), record.batch_choice);
  put_dataset(out.child("dataset"), record.dataset);
  if (record.input) put_input(out.child("input"), *record.input);
  put_source(out.child("source"), record.source);
  put_build(out.child("build"), record.build);
  put_host(out.child("host"), record.host);
  put_cpu(out.child("cpu"), record.cpu);
  put_memory(out.child("memory"), record.memory);
  put_gpus(out, record.gpus);
  out.put_list("towers", record.towers, [](Section& item, const TowerTimes& tower) {
    item.put("processors", tower.processors);
    item.put("planned_host_bytes", tower.planned_host_bytes);
    item.put("planned_device_bytes", tower.planned_device_bytes);
    put_parts(item, tower.mean);
    item.put("waiting", tower.mean.waiting);
  });
  if (record.timed_all_reduce) out.put("timed_all_reduce", *record.timed_all_reduce);
  if (record.scaling) put_scaling(out.child("scaling"), *record.scaling);
  if (record.world) put_world(out.child("world"), *record.world);
  put_training(out, record.checkpoints, record.evaluations);
  put_process(out.child("process"), record.process);
  out.put("env", record.env);
  out.put("tensorflow_env", record.tensorflow_env);
  put_load(out.child("load"), record.load);
  put_cpu_watched(out.child("cpu_watched"), record.cpu_watched);
  put_energy(out.child("energy"), record.energy);
  Section roof = out.child("roof");
  roof.put("flops_per_second", record.roof.flops_per_second);
  roof.put("product_flops_per_second", record.roof.product_flops_per_second);
  roof.put("bytes_per_second", record.roof.bytes_per_second);
  roof.put("step_bytes", record.roof.step_bytes);
  roof.put("least_step_seconds", record.roof.least_step_seconds);
  roof.put("arithmetic_share", record.roof.arithmetic_share);
  out.put_list("kernels", record.kernels, [](Section& item, const KernelTime& kernel) {
    item.put("op", kernel.op);
    item.put("name", kernel.name);
    item.put("implementation", kernel.implementation);
    item.put("seconds", kernel.seconds);
    item.put("flops", kernel.flops);
    item.put("avoidable_flops", kernel.avoidable_flops);
    item.put("bytes", kernel.bytes);
  });
  put_cost(out, record.cost);
  out.put_list("metrics", record.metrics, put_metric,
               [](const Metric& metric, std::size_t) { return metric.name; });
  Section series = out.child("series");
  series.put("step_ns", counts(record.series.step_ns));
  series.put("device_ns", counts(record.series.device_ns));
  series.put("loss", record.series.loss);
  series.put("top_1", record.series.top_1);
  series.put("top_5", record.series.top_5);
  out.put_list("implementations", record.implementations,
               [](Section& item, const Implementation& implementation) {
                 item.put("op", implementation.op);
                 item.put("implementation", implementation.implementation);
                 item.put("layout", implementation.layout);
                 item.put("count", implementation.count);
               });
  put_choices(out.child("choices"), record.choices);
  Section verification = out.child("verification");
  verification.put("skipped", record.verification.skipped);
  verification.put_list("numbers", record.verification.numbers,
                        [](Section& item, const VerifiedNumber& number) {
                          item.put("name", number.name);
                          item.put("measured", number.measured);
                          item.put("stored", number.stored);
                          item.put("deviation", number.deviation);
                          item.put("tolerance", number.tolerance);
                        });
  if (record.quantization) {
    Section quantization = out.child("quantization");
    quantization.put("centred_snr_db", record.quantization->centred_snr_db);
    quantization.put("snr_db", record.quantization->snr_db);
    quantization.put("images", record.quantization->images);
    quantization.put("same_top_1", record.quantization->same_top_1);
    quantization.put("classes_named", record.quantization->classes_named);
    quantization.put("correct_f32", record.quantization->correct_f32);
    quantization.put("correct_int8", record.quantization->correct_int8);
    quantization.put("images_seen", record.quantization->images_seen);
    quantization.put("trained", record.quantization->trained);
  }
  put_quality(out.child("quality"), record.quality);
  root["capture_errors"] = errors;

  nlohmann::json canonical = root;
  canonical.erase("record_id");
  root["record_id"] = sha256_hex(dump(canonical)).substr(0, 16);
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bench::results

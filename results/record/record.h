#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "results/record/captured.h"
#include "results/record/conditions.h"
#include "results/record/flag_value.h"
#include "results/record/gpu.h"
#include "results/record/input.h"
#include "results/record/kernel_time.h"
#include "results/record/training.h"

/// The record of one run (one process), as plain data. Names and meaning are those of the schema
/// `bench.record/2`; run_fields.inc, machine_fields.inc and metrics.inc define every number.
namespace bench::results {

inline constexpr const char* kSchema = "bench.record/2";

/// Raised when numbers of a workload stop being comparable with those of earlier versions.
inline constexpr int kWorkloadVersion = 1;

enum class Status { kOk, kFailed, kAborted };

/// When the run took place.
struct Time {
  std::chrono::system_clock::time_point start_utc{};
  std::chrono::system_clock::time_point end_utc{};
  std::chrono::nanoseconds monotonic_ns{};  ///< The monotonic clock at start_utc.
  Captured<std::string> tz{};               ///< Offset of the local time zone, such as "+0100".
  Captured<std::string> clocksource{};      ///< The kernel's clock source, such as "tsc".
};

/// What was run. It must be equal for two runs to be comparable.
struct Workload {
  std::string model{};
  std::string printed_model{};  ///< Name in tf_cnn_benchmarks' output: lenet5 for lenet.
  std::string mode{};           ///< train, fwd or eval.
  std::string backend{};        ///< onednn, reference, ...
  std::string data{};           ///< synthetic, file, or the files' format: tfrecord, cifar10_bin.
  std::int64_t batch_per_device = 0;
  int devices = 0;    ///< The sum over all processes.
  int processes = 1;  ///< Processes that computed together, started by a launcher.
  std::int64_t global_batch = 0;
  std::string dtype{};
  std::string layout{};  ///< NCHW, NHWC, or auto.
  int image_size = 0;    ///< Height and width of the network's input, in pixels.
  std::string optimizer{};
  std::string variable_update{};
  std::int64_t num_batches = 0;  ///< Steps asked for, warm-up not counted.
  double num_epochs = 0;         ///< The same in passes over the dataset.
  std::int64_t warmup = 0;       ///< Requested warm-up steps.
  std::int64_t seed = 0;
  Captured<std::int64_t> model_params{};     ///< Trainable parameters.
  Captured<std::int64_t> flops_per_image{};  ///< 2 per multiply-add, in this mode.
  int workload_version = kWorkloadVersion;
};

/// The flags of a run, by name.
struct RunFlags {
  FlagValues given{};  ///< Flags that the user gave.
  // All others have the values that took effect.
  FlagValues workload{};   ///< Flags that change the workload and have no member in Workload.
  FlagValues execution{};  ///< Flags that change how, where and how long it runs.
  FlagValues output{};     ///< Flags that change neither.
  std::vector<std::string> command_line{};
};

/// A batch size that was measured in a few steps before the run.
struct BatchTrial {
  std::int64_t batch = 0;     ///< Per device.
  double images_per_sec = 0;  ///< Images of a step / median step time.
  double spread = 0;          ///< Scaled MAD of the step times / their median.
  std::int64_t steps = 0;     ///< Timed steps.
};

/// How workload.batch_per_device was chosen.
struct BatchChoice {
  std::string rule{};               ///< given, default (the model's own), list, auto or max.
  std::vector<BatchTrial> tried{};  ///< The trials of auto, in order.
};

struct Source {
  Captured<std::string> git_rev{};
  Captured<bool> dirty{};  ///< Tracked files differed from git_rev during the build.
  Captured<std::string> commit_time{};
  std::string bench_version{};
};

/// A loaded shared library, or a library that reports its version.
struct Library {
  std::string name{};
  Captured<std::string> version{};
  Captured<std::string> so_path{};
  Captured<std::string> build_id{};
};

struct Build {
  std::string compiler{};
  std::string version{};
  std::string flags{};
  std::string link_flags{};
  std::string build_type{};
  std::string sanitizer{};  ///< Empty without one.
  std::string stdlib{};
  Captured<std::string> exe_sha256 = Unknown{"no step was measured"};
  std::vector<Library> libs{};
};

struct Cgroup {
  Captured<double> cpu_quota{};         ///< Processors' worth of time.
  Captured<std::string> cpuset{};       ///< Processors that the group may use, as a list.
  Captured<std::int64_t> memory_max{};  ///< Bytes.
};

struct Host {
  Captured<std::string> hostname{};
  Captured<std::string> machine_id_hash{};
  Captured<std::string> platform{};  ///< The kernel's name of it: x86_64, aarch64.
  Captured<std::string> os{};
  Captured<std::string> kernel{};
  Captured<std::string> hypervisor{};
  Captured<std::string> container{};
  Captured<std::string> libc{};
  /// The kernel's parameters that change speed, such as mitigations=off; may be empty.
  Captured<std::string> kernel_parameters{};
  Captured<std::map<std::string, std::string>>
      vulnerabilities{};            ///< By name, in the kernel's words.
  Captured<std::string> selinux{};  ///< enforcing, permissive, off.
  Cgroup cgroup{};
};

struct Cpu {
  Captured<std::string> vendor{};
  Captured<std::string> model{};
  Captured<std::string> family_model_stepping{};
  Captured<std::string> microcode{};
  Captured<int> sockets{};
  Captured<int> cores{};                        ///< Physical, online.
  Captured<int> threads{};                      ///< Hardware threads, online.
  Captured<bool> smt{};                         ///< Hyper-threading is active.
  Captured<std::vector<std::string>> flags{};   ///< Flags that choose kernels.
  Captured<std::vector<std::string>> caches{};  ///< The first processor's, such as "L1 Data 32K".
  Captured<double> base_mhz{};
  Captured<double> max_mhz{};
  Captured<double> min_mhz{};
  Captured<std::string> governor{};
  Captured<std::string> driver{};
  Captured<std::string> epp{};  ///< Energy performance preference, of the first processor.
  Captured<int> epb{};          ///< Energy performance bias: 0 speed, 15 saving.
  Captured<bool> turbo{};       ///< The clock may rise above the base.
  Captured<int> numa_nodes{};
  Captured<std::vector<std::string>> numa_distances{};  ///< One row per node.
  Captured<std::string> online{};
  Captured<std::string> affinity{};  ///< Processors that the process may use, as a list.
  Captured<std::vector<int>> processors_used{};  ///< Where the run's threads were placed.
  Captured<std::string> isa_used{};  ///< Instruction set that the kernels were limited to.
};

/// A memory module.
struct Dimm {
  Captured<std::string> slot{};
  Captured<std::int64_t> bytes{};
  Captured<std::string> kind{};  ///< Such as DDR5.
  Captured<int> megatransfers_per_second{};
  Captured<std::string> part{};
};

struct Memory {
  Captured<std::int64_t> total{};      ///< Bytes.
  Captured<std::int64_t> available{};  ///< Bytes, before the run.
  Captured<std::int64_t> swap_used{};  ///< Bytes, before the run.
  Captured<std::int64_t> hugepages{};  ///< Reserved huge pages.
  Captured<std::string> thp{};         ///< Mode of transparent huge pages.
  Captured<bool> numa_balancing{};
  Captured<std::vector<Dimm>> dimms{};
};

/// How the system treats the process.
struct Process {
  Captured<int> nice{};
  Captured<std::string> scheduling{};      ///< other, batch, idle, fifo or rr.
  Captured<int> address_randomization{};   ///< The kernel's number: 0 none, 2 all.
  Captured<std::int64_t> limit_memlock{};  ///< Bytes.
  Captured<std::int64_t> limit_address_space{};
  Captured<std::int64_t> limit_stack{};
};

struct LoadSample {
  Captured<double> loadavg_1m{};
  Captured<double> loadavg_5m{};
  Captured<double> loadavg_15m{};
  Captured<int> procs_running{};  ///< Runnable tasks of the whole machine, this one included.
};

struct Load {
  LoadSample before{};
  LoadSample after{};
  Captured<double> steal_share{};  ///< Share of all processor time between the two.
  /// Processors that the run wanted and other programs used, also programs that it cannot see.
  Captured<double> lacking_processors{};
  /// The programs that computed most between the two, at most three.
  Captured<std::vector<BusyProcess>> busy{};
  Throttling throttling{};
};

enum class Better { kHigher, kLower, kNone };
/// Exact: the same in every run of a program and workload, unless something changed.
enum class Kind { kNoisy, kExact };
enum class Scope { kRun, kStep };

using MetricValue = Captured<std::variant<std::int64_t, double>>;

struct Metric {
  std::string name{};
  MetricValue value{};
  std::string unit{};
  Better better = Better::kNone;
  Kind kind = Kind::kNoisy;
  Scope scope = Scope::kRun;
};

/// The default reason for an unknown roof.
inline constexpr const char* kNoRoof = "the machine's limits were not measured (--profile)";

/// The limits of one device, measured right after the run, and what they mean for a step.
struct Roof {
  Captured<double> flops_per_second = Unknown{kNoRoof};
  Captured<double> product_flops_per_second = Unknown{kNoRoof};  ///< In a large matrix product.
  Captured<double> bytes_per_second = Unknown{kNoRoof};          ///< Reads and writes together.
  /// Bytes that the kernels of a step read and write.
  Captured<double> step_bytes = Unknown{kNoRoof};
  Captured<double> least_step_seconds = Unknown{kNoRoof};
  /// Share of least_step_seconds in kernels whose arithmetic takes longer than their memory
  /// traffic.
  Captured<double> arithmetic_share = Unknown{kNoRoof};
};

struct Series {
  std::vector<std::chrono::nanoseconds> step_ns{};    ///< Every timed step, in order.
  std::vector<std::chrono::nanoseconds> device_ns{};  ///< The same by the device's clock.
  std::vector<double> loss{};   ///< The reported loss of each step; empty if not computed.
  std::vector<double> top_1{};  ///< Accuracy of each step; empty if not computed.
  std::vector<double> top_5{};
};

/// Where the time of a measured step went: the five parts add up to the whole step.
struct StepParts {
  Captured<double> input{};
  Captured<double> computing{};
  Captured<double> exposed_communication{};
  Captured<double> updating{};
  Captured<double> host{};
  Captured<double> waiting{};  ///< exposed_communication for slower towers, at the step's end.

  void set_unknown(const Unknown& why) {
    input = computing = exposed_communication = updating = host = waiting = why;
  }
};

/// One of several towers.
struct TowerTimes {
  std::vector<int> processors{};  ///< Processors that it is bound to; empty if it is not bound.
  std::int64_t planned_host_bytes = 0;
  std::int64_t planned_device_bytes = 0;  ///< 0 if it computes in the host's memory.
  StepParts mean{};                       ///< In seconds.
};

/// The updates of other workers between the variables that a worker computed with, and its own
/// update.
struct Staleness {
  std::int64_t median = 0;
  std::int64_t p95 = 0;
  std::int64_t max = 0;
};

/// One of several processes.
struct WorldRank {
  std::string host{};
  Captured<std::string> cpu{};
  Captured<std::string> isa_used{};
  Captured<std::string> governor{};
  std::vector<int> processors{};
  std::vector<std::string> gpus{};  ///< Their PCI addresses.
  /// Means of a step on its slowest device, in seconds.
  Captured<double> computing{};
  Captured<double> exposed_communication{};
  std::int64_t steps = 0;                ///< Its measured steps.
  std::optional<Staleness> staleness{};  ///< For asynchronous workers.
  /// The variables of Record::env whose values differ from rank 0's; not set: "".
  std::map<std::string, std::string> env{};
};

/// The time in which each process sends n messages to another one, all at the same time: latency +
/// (n - 1) per_message + bytes / bytes_per_second.
struct Link {
  double latency = 0;      ///< Seconds.
  double per_message = 0;  ///< Seconds.
  double bytes_per_second = 0;
  double error = 0;  ///< How far this misses another size, as a share.
};

/// A speed that was predicted, not measured.
struct PredictedSpeed {
  int ranks = 0;
  double images_per_sec = 0;
  double efficiency = 0;  ///< Share of one process's speed without communication.
};

/// The processes that computed together.
struct World {
  std::string launcher{};
  std::string mpi{};          ///< Library and version.
  int parameter_servers = 0;  ///< Further processes, which hold the variables.
  std::vector<WorldRank> ranks{};
  std::optional<Link> link{};
  std::vector<PredictedSpeed> predicted{};
};

/// A run compared with one on fewer devices with the same batch per device. The lost efficiency is
/// split by part: the towers' mean times (TowerTimes) less the reference's, as shares of the step.
/// The parts add up to 1 - efficiency.
struct Scaling {
  int reference_devices = 0;
  double reference_images_per_sec = 0;
  double efficiency = 0;  ///< Images/sec per device, as a share of the reference's.
  StepParts lost{};
};

/// A kernel that ran, and the number of nodes of one step that used it.
struct Implementation {
  std::string op{};
  std::string implementation{};
  std::string layout{};
  std::int64_t count = 0;
};

/// The kernel of a layer, and its layouts.
struct LayerChoice {
  std::string implementation{};
  std::vector<std::string> inputs{};
  std::vector<std::string> outputs{};
};

/// All choices for the run's graph. `--choices_file` reads them from a record.
struct Choices {
  std::string by{};  ///< estimates, file, timed (in this run) or kept (timed in an earlier one).
  std::map<std::string, std::string> made_for{};  ///< The flags that the choices depend on.
  std::map<std::string, LayerChoice> nodes{};
  std::map<std::string, std::string> held{};  ///< Layouts of inputs and variables.
  /// Where the gradients of several towers are added: host, devices or nccl; otherwise empty.
  std::string reduced_on{};
};

/// One number of the run's check. A number of the fingerprint is compared with the stored one, a
/// kernel or an update with the reference (`stored` is then 0).
struct VerifiedNumber {
  std::string name{};
  double measured = 0;
  double stored = 0;
  double deviation = 0;  ///< Difference; results/NUMBERS.md defines it.
  double tolerance = 0;  ///< The largest deviation that passes.

  [[nodiscard]] bool passed() const { return deviation <= tolerance; }
  /// The deviation as a share of the tolerance; infinite if no deviation is allowed.
  [[nodiscard]] double share() const;
};

/// The check that the timed executor computes what the network should.
struct Verification {
  std::vector<VerifiedNumber> numbers{};
  std::string skipped{};  ///< Why the stored fingerprint was not compared; empty if it was.
};

/// How close an int8 run is to f32, on images that it was not calibrated on.
struct Quantization {
  Captured<double> centred_snr_db{};  ///< SNR of the logits less each class's mean over the images.
  Captured<double> snr_db{};          ///< Signal to noise of the logits as they are.
  std::int64_t images = 0;
  std::int64_t same_top_1 = 0;            ///< Images with the same largest logit.
  std::int64_t classes_named = 0;         ///< Different classes among f32's largest logits.
  Captured<std::int64_t> correct_f32{};   ///< Images whose label has the largest logit.
  Captured<std::int64_t> correct_int8{};  ///< The same in int8.
  bool images_seen = false;               ///< Calibration may have seen some of the images.
  bool trained = false;                   ///< The weights came from a file.
};

enum class Verdict { kValid, kInvalid };

/// How far the numbers can be trusted.
struct Quality {
  std::vector<std::string> warnings{};  ///< What made the numbers low or unsteady.
  Captured<Verdict> verdict = Unknown{"only runs on a GPU are judged"};
  std::vector<std::string> reasons{};  ///< Reasons of an INVALID verdict.
  std::vector<std::string> unread{};   ///< Checks that could not be read.
  Captured<double> score{};            ///< 0 to 100, by add_quality_score().
  std::vector<std::string> deductions{};
};

struct Record {
  std::string run_uuid{};
  Labels labels{};
  Status status = Status::kFailed;
  bool partial = false;         ///< The run ended before its last step.
  std::string status_reason{};  ///< Why it is not ok, or ended before its last step.
  Time time{};
  Workload workload{};
  RunFlags flags{};
  BatchChoice batch_choice{};
  Dataset dataset{};
  std::optional<Input> input{};  ///< For real data.
  Source source{};
  Build build{};
  Host host{};
  Cpu cpu{};
  Memory memory{};
  std::vector<Gpu> gpus{};                   ///< GPUs that the run computes on.
  std::vector<TowerTimes> towers{};          ///< For several devices, or --scaling_sweep.
  std::optional<Scaling> scaling{};          ///< For --scaling_sweep.
  std::optional<World> world{};              ///< For several processes.
  std::optional<Checkpoints> checkpoints{};  ///< For --train_dir.
  std::vector<Evaluation> evaluations{};     ///< For --eval_during_training_*.
  /// The fastest spec, as found by --all_reduce_spec=auto.
  std::optional<std::string> timed_all_reduce{};
  Process process{};
  std::map<std::string, std::string> env{};  ///< The variables that change speed, by name.
  /// TensorFlow's variables, which change nothing here: its logs list them (--benchmark_log_dir).
  std::map<std::string, std::string> tensorflow_env{};
  Load load{};
  CpuWatched cpu_watched{};
  Energy energy{};
  Roof roof{};
  std::vector<KernelTime> kernels{};  ///< For --profile: those of the first device.
  Captured<Cost> cost = Unknown{"not given (--cost)"};
  std::vector<Metric> metrics{};
  Series series{};
  std::vector<Implementation> implementations{};
  Choices choices{};
  Verification verification{};
  std::optional<Quantization> quantization{};  ///< For runs in int8.
  Quality quality{};
};

}  // namespace bench::results

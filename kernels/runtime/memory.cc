#include "kernels/runtime/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

namespace bench {
namespace {

constexpr std::int32_t kNever = -1;

/// First and last step that touches each buffer.
struct Life {
  std::int32_t first = kNever;
  std::int32_t last = kNever;
};

std::vector<Life> lives(const LoweredGraph& lowered, const std::vector<std::size_t>& kept) {
  std::vector<Life> result(lowered.buffers.size());
  for (std::size_t s = 0; s < lowered.steps.size(); ++s) {
    const auto now = static_cast<std::int32_t>(s);
    for (const auto& buffers : {lowered.steps[s].outputs, lowered.steps[s].inputs}) {
      for (const std::size_t buffer : buffers) {
        Life& life = result[buffer];
        life.first = life.first == kNever ? now : life.first;
        life.last = now;
      }
    }
  }
  for (const std::size_t buffer : kept) {
    result[buffer].last = static_cast<std::int32_t>(lowered.steps.size());
  }
  return result;
}

/// Sequential placement for memory that lives as long as the executor.
class Region {
 public:
  explicit Region(const Spacing& spacing) : spacing_(spacing) {}
  std::size_t place(std::size_t bytes) {
    const std::size_t offset = bytes_;
    bytes_ += align_up(bytes + spacing_.guard_bytes, spacing_.alignment);
    return offset;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Spacing spacing_;
  std::size_t bytes_ = 0;
};

/// The input's activation buffer that this output may and can take over at its step.
std::optional<std::size_t> overwritten(const LoweredGraph& lowered, const std::vector<Life>& life,
                                       const Step& step, std::size_t position, std::int32_t now) {
  for (const auto& overwrite : step.may_overwrite) {
    if (overwrite.output != position) {
      continue;
    }
    const std::size_t input = step.inputs[overwrite.input];
    const auto same = [&](std::size_t other) { return other == input; };
    const bool once = std::count_if(step.inputs.begin(), step.inputs.end(), same) == 1;
    if (once && lowered.buffers[input].region == Buffer::Region::activation &&
        life[input].last == now &&
        lowered.buffers[input].bytes >= lowered.buffers[step.outputs[position]].bytes) {
      return input;
    }
  }
  return std::nullopt;
}

/// Puts the outputs of one number at the beginning of the activations, so that one copy fetches
/// all; says which buffers these are.
std::vector<bool> place_results(const LoweredGraph& lowered, const std::vector<std::size_t>& kept,
                                const Spacing& spacing, MemoryLayout& layout) {
  std::vector<bool> is_result(lowered.buffers.size(), false);
  Region results(spacing);
  for (const std::size_t b : kept) {
    const Buffer& buffer = lowered.buffers[b];
    if (buffer.region == Buffer::Region::activation && is_floating(buffer.type.dtype) &&
        !buffer.type.opaque && buffer.type.shape.elements() == 1 && !is_result[b]) {
      is_result[b] = true;
      layout.offsets[b] = results.place(buffer.bytes);
    }
  }
  layout.results = results.bytes();
  return is_result;
}

void place_activations(const LoweredGraph& lowered, const std::vector<std::size_t>& kept,
                       const Spacing& spacing, MemoryLayout& layout) {
  const std::vector<Life> life = lives(lowered, kept);
  std::vector<PlannedTensor> tensors;
  std::vector<std::size_t> buffer_of;
  std::vector<std::optional<std::size_t>> tensor_of(lowered.buffers.size());
  std::vector<bool> taken(lowered.buffers.size(), false);
  const std::vector<bool> result = place_results(lowered, kept, spacing, layout);
  for (std::size_t s = 0; s < lowered.steps.size(); ++s) {
    const Step& step = lowered.steps[s];
    const auto now = static_cast<std::int32_t>(s);
    for (std::size_t o = 0; o < step.outputs.size(); ++o) {
      const std::size_t buffer = step.outputs[o];
      if (lowered.buffers[buffer].region != Buffer::Region::activation || tensor_of[buffer] ||
          result[buffer]) {
        continue;
      }
      PlannedTensor tensor{.bytes = lowered.buffers[buffer].bytes,
                           .first_step = life[buffer].first,
                           .last_step = life[buffer].last,
                           .shares = std::nullopt};
      const auto input = overwritten(lowered, life, step, o, now);
      if (input && !taken[*input]) {
        taken[*input] = true;
        tensor.shares = tensor_of[*input];
      }
      tensor_of[buffer] = tensors.size();
      tensors.push_back(tensor);
      buffer_of.push_back(buffer);
    }
  }
  const MemoryPlan plan = plan_memory(tensors, spacing);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    layout.offsets[buffer_of[t]] = layout.results + plan.offsets[t];
  }
  layout.report.activations = layout.results + plan.total_bytes;
}

}  // namespace

std::string format_bytes(std::size_t bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", amount, kUnits[unit]);
  return text.data();
}

std::size_t MemoryReport::total() const {
  std::size_t bytes = 0;
  for (const MemoryRegion& region : regions()) {
    bytes += region.bytes;
  }
  return bytes;
}

std::vector<MemoryRegion> MemoryReport::regions() const {
  return {{"activations", activations}, {"variables", variables},
          {"gradients", gradients},     {"workspace", workspace},
          {"copies", copies},           {"device_input", inputs + landing},
          {"staging", staging}};
}

std::ostream& operator<<(std::ostream& out, const MemoryReport& report) {
  constexpr std::size_t kAlways = 4;
  const std::vector<MemoryRegion> regions = report.regions();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (i < kAlways || regions[i].bytes > 0) {
      out << (i == 0 ? "" : ", ") << regions[i].name << " " << format_bytes(regions[i].bytes);
    }
  }
  return out;
}

MemoryLayout lay_out_memory(const LoweredGraph& lowered, const std::vector<std::size_t>& kept,
                            const Spacing& spacing) {
  MemoryLayout layout;
  layout.offsets.assign(lowered.buffers.size(), 0);
  Region variables(spacing);
  Region gradients(spacing);
  Region copies(spacing);
  Region inputs(spacing);
  std::vector<bool> placed(lowered.buffers.size(), false);
  for (const auto& trained : lowered.trained) {
    const std::size_t bytes = lowered.buffers[trained.variable].bytes;
    layout.offsets[trained.variable] = variables.place(bytes);
    layout.offsets[trained.gradient] = gradients.place(bytes);
    placed[trained.variable] = true;
    for (const auto& copy : trained.copies) {
      layout.offsets[copy.buffer] = copies.place(lowered.buffers[copy.buffer].bytes);
    }
  }
  for (std::size_t b = 0; b < lowered.buffers.size(); ++b) {
    if (lowered.buffers[b].region == Buffer::Region::variable && !placed[b]) {
      layout.offsets[b] = variables.place(lowered.buffers[b].bytes);
    } else if (lowered.buffers[b].region == Buffer::Region::input) {
      layout.offsets[b] = inputs.place(lowered.buffers[b].bytes);
    }
  }
  layout.report.inputs = inputs.bytes();
  layout.report.variables = variables.bytes();
  layout.report.gradients = gradients.bytes();
  layout.report.copies = copies.bytes();
  place_activations(lowered, kept, spacing, layout);
  for (const Step& step : lowered.steps) {
    layout.report.workspace =
        std::max(layout.report.workspace, align_up(step.workspace_bytes, spacing.alignment));
  }
  return layout;
}

void lay_out_landings(const LoweredGraph& lowered, std::string_view pixels, const Spacing& spacing,
                      MemoryLayout& layout) {
  Region region(spacing);
  for (std::size_t b = 0; b < lowered.buffers.size(); ++b) {
    const Buffer& buffer = lowered.buffers[b];
    if (buffer.region == Buffer::Region::input) {
      const std::size_t bytes = buffer.name == pixels
                                    ? static_cast<std::size_t>(buffer.type.shape.elements())
                                    : buffer.bytes;
      layout.landings[b] = {.offset = region.place(bytes), .bytes = bytes};
    }
  }
  layout.report.landing = region.bytes();
}

}  // namespace bench

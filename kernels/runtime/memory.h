#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/lowering.h"
#include "kernels/runtime/memory_plan.h"

namespace bench {

struct MemoryRegion {
  std::string_view name;
  std::size_t bytes = 0;
};

/// Bytes that a plan needs, by region, before anything is allocated.
struct MemoryReport {
  std::size_t variables = 0;
  std::size_t gradients = 0;
  /// 16-bit copies of trained variables that the optimizer refreshes.
  std::size_t copies = 0;
  std::size_t activations = 0;
  std::size_t workspace = 0;
  /// For a device with separate memory: the graph inputs, their second buffers, and the largest
  /// tensor that the host reads or writes, in transit. Graph inputs share memory with nothing, so
  /// that an unchanged batch need not be copied again.
  std::size_t inputs = 0;
  std::size_t landing = 0;
  std::size_t staging = 0;
  [[nodiscard]] std::size_t total() const;
  /// All regions, in the order in which they are printed.
  [[nodiscard]] std::vector<MemoryRegion> regions() const;
};

/// "activations 1.9 GiB, variables 97.5 MiB, gradients 97.5 MiB, workspace 12.0 MiB"; also copies,
/// device input and staging if present.
std::ostream& operator<<(std::ostream& out, const MemoryReport& report);

/// "1.9 GiB", with one digit after the point and the largest binary unit that keeps it at least 1.
std::string format_bytes(std::size_t bytes);

/// The offset of each buffer of a lowered graph in its region.
struct MemoryLayout {
  std::vector<std::size_t> offsets;
  /// The memory in which a graph input's data arrives, by its buffer.
  struct Landing {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  std::map<std::size_t, Landing> landings;
  /// Bytes at the beginning of the activations that hold the outputs of one floating-point number.
  std::size_t results = 0;
  MemoryReport report;
};

/// Lays out a lowered graph. Trained variables and their gradients come first in their regions, at
/// equal offsets, in the order of LoweredGraph::trained. Activations with disjoint lifetimes share
/// memory, and an output replaces its input if the kernel allows it. Values in `kept` (outputs)
/// survive to the end; those of one number are contiguous. Inputs never share memory: their data
/// stays for the next run.
MemoryLayout lay_out_memory(const LoweredGraph& lowered, const std::vector<std::size_t>& kept,
                            const Spacing& spacing);

/// Lays out the memory in which the inputs arrive, in the order of their buffers. The input named
/// `pixels` has one byte per element; the others have their own size.
void lay_out_landings(const LoweredGraph& lowered, std::string_view pixels, const Spacing& spacing,
                      MemoryLayout& layout);

}  // namespace bench
